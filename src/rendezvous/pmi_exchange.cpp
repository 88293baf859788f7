#include "rendezvous/pmi_exchange.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// No reply of a launcher is longer.
constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::size_t most_contribution_bytes = std::size_t{16} << 20;

/// "cmd=maxes kvsname_max=256 …" by name.
std::map<std::string, std::string> parse_fields(std::string_view line) {
  std::map<std::string, std::string> fields;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    fields.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return fields;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned char byte = 0;
    const char* const end = text.data() + i + 2;
    const auto [read, error] = std::from_chars(text.data() + i, end, byte, 16);
    if (error != std::errc{} || read != end) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

PmiSession::PmiSession(int fd, Rank rank, std::uint32_t size, Clock::time_point deadline)
    : fd_(fd), rank_(rank), size_(size) {
  ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", deadline);
  most_value_ = most_value_bytes(ask("cmd=get_maxes", "maxes", deadline));
  space_ = ask("cmd=get_my_kvsname", "my_kvsname", deadline)["kvsname"];
}

PmiSession::~PmiSession() {
  if (!origin_.is_here()) return;
  try {
    ask("cmd=finalize", "finalize_ack", Clock::now() + 2s);
  } catch (const Error&) {
    // The launcher is gone, or sees that this process is.
  }
}

std::size_t PmiSession::most_value_bytes(const Fields& maxes) const {
  const auto field = maxes.find("vallen_max");
  std::size_t most = 0;
  if (field != maxes.end()) {
    const std::string& text = field->second;
    std::from_chars(text.data(), text.data() + text.size(), most);
  }
  // Some launchers count the terminating zero, and put() writes the number of pieces first.
  constexpr std::size_t reserved = 16;
  constexpr std::size_t fewest = 64;
  if (most < fewest) {
    throw Error(ErrorCode::unsupported,
                "the launcher of rank " + std::to_string(rank_) +
                    " accepts only values that are too short (PMI's vallen_max)");
  }
  return most - reserved;
}

void PmiSession::put(const std::string& key, const std::string& text, Clock::time_point deadline) {
  const std::string hex = to_hex(text);
  const std::size_t pieces = std::max<std::size_t>(1, (hex.size() + most_value_ - 1) / most_value_);
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::string count = i == 0 ? std::to_string(pieces) + ":" : "";
    ask("cmd=put kvsname=" + space_ + " key=" + key + "-" + std::to_string(i) + " value=" + count +
            hex.substr(i * most_value_, most_value_),
        "put_result", deadline);
  }
}

std::string PmiSession::get(const std::string& key, Clock::time_point deadline) {
  std::string hex;
  std::size_t pieces = 1;
  for (std::size_t i = 0; i < pieces; ++i) {
    Fields answer = ask("cmd=get kvsname=" + space_ + " key=" + key + "-" + std::to_string(i),
                        "get_result", deadline);
    std::string value = answer["value"];
    if (i == 0) {
      const std::size_t colon = value.find(':');
      const bool read =
          colon != std::string::npos &&
          std::from_chars(value.data(), value.data() + colon, pieces).ec == std::errc{};
      if (!read || pieces > 2 * most_contribution_bytes / most_value_ + 1) {
        throw Error(ErrorCode::mismatch,
                    "the launcher returned another value for '" + key + "' than was put");
      }
      value.erase(0, colon + 1);
    }
    hex += value;
  }
  std::optional<std::string> text = from_hex(hex);
  if (!text)
    throw Error(ErrorCode::mismatch,
                "the launcher returned another value for '" + key + "' than was put");
  return *std::move(text);
}

void PmiSession::barrier(Clock::time_point deadline) {
  ask("cmd=barrier_in", "barrier_out", deadline);
}

PmiSession::Fields PmiSession::ask(const std::string& line, const std::string& answer,
                                   Clock::time_point deadline) {
  if (!origin_.is_here()) {
    throw Error(
        ErrorCode::aborted,
        "this process was forked from rank " + std::to_string(rank_) +
            " and cannot use its launcher: make the communicator before the fork, or in the "
            "rank itself");
  }
  send(line + "\n");
  const std::string text = receive(line.substr(0, 64), deadline);
  Fields fields = parse_fields(text);
  const bool is_success = !fields.contains("rc") || fields["rc"] == "0";
  if (fields["cmd"] != answer || !is_success) {
    throw Error(ErrorCode::unsupported,
                "the launcher of rank " + std::to_string(rank_) + " replies to '" +
                    line.substr(0, 64) + "' with '" + text.substr(0, 128) +
                    "', which is not PMI-1: set TUTTI_RANK, TUTTI_SIZE and TUTTI_ROOT instead");
  }
  return fields;
}

void PmiSession::send(const std::string& line) {
  // May block, but not for long: a launcher reads at once.
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorCode::peer_lost, "the launcher of rank " + std::to_string(rank_) +
                                            " is gone: " + std::generic_category().message(errno));
    }
    sent += static_cast<std::size_t>(count);
  }
}

std::string PmiSession::receive(const std::string& asked, Clock::time_point deadline) {
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      throw Error(ErrorCode::timed_out,
                  "rank " + std::to_string(rank_) +
                      " has waited until its deadline for its launcher to reply to '" + asked +
                      "': check that all ranks have come this far");
    }
    pollfd watched{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) <= 0) continue;
    std::array<char, 4096> buffer{};
    const ssize_t count = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0 || unread_.size() > longest_line) {
      throw Error(ErrorCode::peer_lost,
                  "the launcher of rank " + std::to_string(rank_) + " is gone");
    }
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

PmiExchange::PmiExchange(std::shared_ptr<PmiSession> session, Clock::time_point deadline)
    : session_(std::move(session)), patience_(deadline - Clock::now()), deadline_(deadline) {}

std::vector<std::string> PmiExchange::all_gather(const std::string& contribution) {
  if (contribution.size() > most_contribution_bytes) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(session_->rank()) +
                                                 " brings " + std::to_string(contribution.size()) +
                                                 " bytes to the rendezvous, more than " +
                                                 std::to_string(most_contribution_bytes));
  }
  const Clock::time_point deadline =
      std::exchange(first_, false) ? deadline_ : Clock::now() + patience_;
  const std::string prefix = "tutti-" + std::to_string(session_->next_round()) + "-";
  const std::uint32_t self = session_->rank();
  session_->put(prefix + std::to_string(self), contribution, deadline);
  session_->barrier(deadline);
  std::vector<std::string> contributions;
  for (std::uint32_t r = 0; r < session_->size(); ++r) {
    contributions.push_back(r == self ? contribution
                                      : session_->get(prefix + std::to_string(r), deadline));
  }
  return contributions;
}

}  // namespace tutti
