#include "rendezvous/dialer.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <tutti/error.hpp>

#include "core/quantity.hpp"
#include "core/system_reason.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_attempts = 16;
/// Each address is tried this much later than the one before.
constexpr auto stagger = 200ms;
constexpr auto find_interval = 2s;
constexpr auto shortest_pause = 20ms;
constexpr auto longest_pause = 500ms;
/// More than one, since a former job may still listen at the address for a moment.
constexpr int most_final_refusals = 5;

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

Dialer::Dialer(const Group& group, Finder find_root)
    : group_(group), find_root_(std::move(find_root)), begun_(Clock::now()) {}

FramedChannel Dialer::dial(Clock::time_point deadline, const Inquiry& inquiry) {
  for (;;) {
    find();
    for (std::size_t i = 0; i < attempts_.size(); ++i) {
      Attempt& attempt = attempts_[i];
      if (!attempt.handshake && Clock::now() >= attempt.next) begin(attempt);
      if (attempt.handshake && go_on(attempt)) {
        chosen_ = i;
        attempt.handshake.reset();
        return FramedChannel(std::exchange(attempt.channel, Channel()));
      }
      if (attempt.final_refusals >= most_final_refusals) {
        throw Error(ErrorCode::mismatch, "rank " + std::to_string(group_.rank) +
                                             " is rejected at " + attempt.at.text() + ": " +
                                             attempt.failure);
      }
    }
    shortage_.require_none("rank " + std::to_string(group_.rank) + " cannot connect to rank 0",
                           Clock::now());
    if (Clock::now() >= deadline) fail_late();
    if (const std::string why = inquiry ? inquiry({}) : ""; !why.empty()) {
      throw Error(ErrorCode::peer_lost, why);
    }
    wait(inquiry ? std::min(deadline, Clock::now() + between_inquiries) : deadline);
  }
}

void Dialer::note_failure(const std::string& why) { give_up(attempts_[chosen_], why); }

void Dialer::find() {
  const Clock::time_point now = Clock::now();
  if (now < next_find_) return;
  next_find_ = now + find_interval;
  const bool is_answered = std::any_of(attempts_.begin(), attempts_.end(), [](const Attempt& each) {
    return each.handshake.has_value();
  });
  if (is_answered) return;
  try {
    Clock::time_point first = now;
    for (const Endpoint& each : find_root_()) {
      const bool known = std::any_of(attempts_.begin(), attempts_.end(), [&](const Attempt& other) {
        return other.at.text() == each.text();
      });
      if (known || attempts_.size() == most_attempts) continue;
      attempts_.push_back({.at = each, .next = first, .pause = shortest_pause});
      first += stagger;
    }
    not_found_.clear();
  } catch (const Error& error) {
    not_found_ = error.what();
  }
}

void Dialer::begin(Attempt& attempt) {
  attempt.channel = Channel(begin_connect(attempt.at));
  shortage_.note(attempt.channel ? 0 : errno, Clock::now());
  if (!attempt.channel) {
    give_up(attempt, system_reason(errno));
    return;
  }
  attempt.failure = "no answer";
  attempt.handshake.emplace(Handshake::Side::dials, group_.secret, greeting(group_));
}

bool Dialer::go_on(Attempt& attempt) {
  const Handshake::State state = attempt.handshake->advance(attempt.channel);
  attempt.wants_to_write = state == Handshake::State::writing;
  if (state == Handshake::State::refused) {
    attempt.final_refusals += attempt.handshake->is_final() ? 1 : 0;
    give_up(attempt, std::string(attempt.handshake->refusal()));
    return false;
  }
  if (state != Handshake::State::done) return false;
  if (!is_same_user(attempt.channel.socket())) {
    give_up(attempt, "the name belongs to a process of another user");
    return false;
  }
  return true;
}

void Dialer::give_up(Attempt& attempt, const std::string& why) {
  attempt.failure = why;
  attempt.handshake.reset();
  attempt.channel = Channel();
  // Ranks that start together retry at different times.
  attempt.next = Clock::now() + attempt.pause + attempt.pause * (group_.rank % 16) / 32;
  attempt.pause = std::min<Clock::duration>(attempt.pause * 2, longest_pause);
}

void Dialer::wait(Clock::time_point deadline) const {
  Clock::time_point until = std::min(deadline, next_find_);
  std::vector<pollfd> watched;
  for (const Attempt& each : attempts_) {
    if (each.handshake) {
      const short writing = each.wants_to_write ? POLLOUT : 0;
      watched.push_back(
          {.fd = each.channel.fd(), .events = static_cast<short>(POLLIN | writing), .revents = 0});
    } else {
      until = std::min(until, each.next);
    }
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  (void)poll(watched.data(), watched.size(),
             static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
}

void Dialer::fail_late() const {
  const auto waited = std::chrono::duration<double>(Clock::now() - begun_).count();
  std::string attempts;
  for (const Attempt& each : attempts_) {
    attempts += (attempts.empty() ? "" : "; ") + each.at.text() + ": " + each.failure;
  }
  if (!not_found_.empty()) attempts += (attempts.empty() ? "" : "; ") + not_found_;
  throw Error(ErrorCode::timed_out,
              "rank " + std::to_string(group_.rank) + " on host " + host_name() +
                  " has not reached rank 0 in " + format_seconds(waited) + " (" + attempts +
                  "): check that rank 0 runs, and that this host can reach it there");
}

}  // namespace tutti
