#include "rendezvous/invitation.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <tutti/error.hpp>

#include "rendezvous/dialer.hpp"
#include "rendezvous/group.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr auto between_signs = 100ms;
constexpr auto between_looks = 20ms;

/// As Dialer::dial(), with the cure for a process that is no rank yet.
FramedChannel dial_group(Dialer& dialer, const Endpoint& at, Clock::time_point deadline) {
  try {
    return dialer.dial(deadline);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::mismatch) throw;
    throw Error(ErrorCode::mismatch,
                "the group at " + at.text() + " does not admit this process: " + error.what() +
                    ", or the same CommunicatorOptions::secret, as the group was made with");
  }
}

}  // namespace

Invitation::Invitation(std::string ticket, FramedChannel connection)
    : ticket_(std::move(ticket)),
      connection_(std::move(connection)),
      thread_([this] { give_signs(); }) {}

Invitation::~Invitation() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

void Invitation::give_signs() {
  std::unique_lock lock(mutex_);
  do {
    connection_.send(Frame::Kind::join, "");
    connection_.flush();
  } while (!ends_.wait_for(lock, between_signs, [this] { return has_ended_; }));
}

std::unique_ptr<Invitation> request_admission(const Endpoint& at, const Secret& secret,
                                              Clock::time_point deadline) {
  const Group group = newcomer_group(secret);
  Dialer dialer(group, [&] { return std::vector<Endpoint>{at}; });
  while (true) {
    FramedChannel channel = dial_group(dialer, at, deadline);
    while (channel.lost().empty() && Clock::now() < deadline) {
      channel.advance();
      if (auto frame = channel.next()) {
        if (frame->kind == Frame::Kind::contribution) {
          return std::make_unique<Invitation>(std::move(frame->body), std::move(channel));
        }
        // The group asks whether this process is there.
        channel.send(Frame::Kind::join, "");
        continue;
      }
      pollfd waiting{.fd = channel.socket().fd(), .events = POLLIN, .revents = 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      (void)poll(&waiting, 1,
                 static_cast<int>(
                     std::clamp<std::chrono::milliseconds>(left, 0ms, between_looks).count()));
    }
    if (Clock::now() >= deadline) {
      throw Error(ErrorCode::timed_out,
                  "the group at " + at.text() +
                      " has not admitted this process: check that it calls grow()");
    }
    // The rank that listened is gone; another rank will listen there.
    dialer.note_failure(channel.lost());
  }
}

}  // namespace tutti
