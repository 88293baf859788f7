#include "rendezvous/tcp_member.hpp"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <tutti/error.hpp>

#include "core/quantity.hpp"
#include "rendezvous/dialer.hpp"

namespace tutti {
namespace {

/// The missing ranks that rank 0 has listed, without this rank.
std::string decode_missing(std::string_view body, std::uint32_t self) {
  std::vector<std::uint32_t> numbers;
  while (!body.empty()) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), number);
    if (error != std::errc{}) return "";
    numbers.push_back(number);
    body.remove_prefix(std::min(body.size(), static_cast<std::size_t>(end - body.data()) + 1));
  }
  if (numbers.empty()) return "";
  std::size_t in_all = numbers.front();
  numbers.erase(numbers.begin());
  in_all -= std::min(in_all, std::erase(numbers, self));
  return numbers.empty() ? "" : name_ranks(numbers, in_all);
}

/// Sleeps until there is something to read, or room for what is unsent.
void wait_for(const FramedChannel& connection, Clock::time_point deadline) {
  const short writing = connection.has_unsent() ? POLLOUT : 0;
  pollfd watched{
      .fd = connection.socket().fd(), .events = static_cast<short>(POLLIN | writing), .revents = 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  (void)poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
}

[[noreturn]] void rethrow(const Frame& frame, std::uint32_t self) {
  const int code = frame.body.empty() ? -1 : frame.body.front() - '0';
  const bool known = code >= 0 && code <= static_cast<int>(ErrorCode::internal);
  throw Error(known ? static_cast<ErrorCode>(code) : ErrorCode::internal,
              "rank 0 tells rank " + std::to_string(self) + ": " +
                  frame.body.substr(std::min<std::size_t>(1, frame.body.size())));
}

}  // namespace

TcpMember::TcpMember(Group group, const Finder& find_root, Clock::time_point deadline,
                     DeadlineSpan span, const Inquiry& inquiry)
    : group_(std::move(group)),
      patience_(deadline - Clock::now()),
      span_(span),
      deadline_(deadline) {
  Dialer dialer(group_, find_root);
  for (;;) {
    root_.emplace(dialer.dial(deadline, inquiry));
    root_->send(Frame::Kind::join, "");
    for (;;) {
      root_->advance();
      if (const std::optional<Frame> frame = root_->next()) {
        if (frame->kind == Frame::Kind::error) rethrow(*frame, group_.rank);
        missing_ = decode_missing(frame->body, group_.rank);
        return;
      }
      if (!root_->lost().empty()) break;
      if (Clock::now() >= deadline) fail_late();
      wait_for(*root_, deadline);
    }
    dialer.note_failure(root_->lost());
  }
}

std::vector<std::string> TcpMember::all_gather(const std::string& contribution) {
  if (contribution.size() > Frame::most_bytes) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(group_.rank) + " brings " +
                                                 std::to_string(contribution.size()) +
                                                 " bytes to the rendezvous, more than " +
                                                 std::to_string(Frame::most_bytes));
  }
  const bool is_set = first_ || span_ == DeadlineSpan::all_rounds;
  const Clock::time_point deadline = is_set ? deadline_ : Clock::now() + patience_;
  first_ = false;
  root_->send(Frame::Kind::contribution, contribution);
  std::vector<std::string> contributions;
  while (contributions.size() < group_.size) {
    Frame frame = receive(deadline);
    if (frame.kind == Frame::Kind::error) rethrow(frame, group_.rank);
    if (frame.kind == Frame::Kind::contribution) {
      contributions.push_back(std::move(frame.body));
    } else {
      missing_ = decode_missing(frame.body, group_.rank);
    }
  }
  return contributions;
}

Frame TcpMember::receive(Clock::time_point deadline) {
  for (;;) {
    root_->advance();
    if (std::optional<Frame> frame = root_->next()) return *std::move(frame);
    if (!root_->lost().empty()) {
      throw Error(ErrorCode::peer_lost, "rank 0 was lost during the rendezvous with rank " +
                                            std::to_string(group_.rank) + ": " + root_->lost());
    }
    if (Clock::now() >= deadline) fail_late();
    wait_for(*root_, deadline);
  }
}

void TcpMember::fail_late() {
  root_->send(Frame::Kind::gives_up, "");
  root_->advance();
  const std::string missing = missing_.empty() ? "rank 0" : missing_;
  throw Error(ErrorCode::timed_out,
              "rank " + std::to_string(group_.rank) + " has waited for " + missing +
                  " in the rendezvous for " +
                  format_seconds(std::chrono::duration<double>(patience_).count()) +
                  ": check that it runs");
}

}  // namespace tutti
