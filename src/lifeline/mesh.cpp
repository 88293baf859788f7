#include "lifeline/mesh.hpp"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"
#include "core/thread_start.hpp"
#include "lifeline/keep_alive.hpp"
#include "rendezvous/group.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// Between two ticks while something is to be decided, and otherwise.
constexpr auto short_wait = 20ms;
constexpr auto long_wait = 500ms;
/// How long the destructor may take to send queued messages.
constexpr auto drain_time = 500ms;

/// A pidfd, which becomes readable when the process ends; -1 if there is none.
int watch_for_end(int process) {
  if (process <= 0 || process == getpid()) return -1;
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
}

}  // namespace

Mesh::Mesh(Place place, Lifeline& lifeline, Clock::time_point deadline)
    : place_(std::move(place)),
      lifeline_(lifeline),
      reception_(std::move(place_.listener), watch_, place_.secret, place_.group,
                 Rank{place_.self}),
      members_(place_.contacts.size()),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      is_connected_(place_.contacts.size()) {
  if (wakeup_ < 0) {
    throw Error(ErrorCode::unsupported,
                "cannot make an eventfd for the failure detector: " + system_reason(errno));
  }
  is_connected_[place_.self] = true;
  watch_.add(wakeup_, {.kind = Watch::Kind::bell, .index = 0}, false);
  // The thread inherits this mask: signals go to the caller's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = start_thread([this] { run(); });
  } catch (const Error&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(wakeup_);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  try {
    await_all(deadline);
  } catch (const Error&) {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake();
    thread_.join();
    close(wakeup_);
    throw;
  }
}

Mesh::~Mesh() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake();
  thread_.join();
  for (const Member& member : members_) {
    if (member.process >= 0) close(member.process);
  }
  close(wakeup_);
}

void Mesh::send(std::uint32_t to, std::string message) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({.to = to, .message = std::move(message)});
  }
  wake();
}

void Mesh::request_ticks() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ticks_, true)) return;
  }
  wake();
}

void Mesh::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wakeup_, &one, sizeof one);
}

void Mesh::await_all(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto is_complete = [&] {
    return std::all_of(is_connected_.begin(), is_connected_.end(), [](bool is) { return is; });
  };
  (void)complete_.wait_until(lock, deadline, [&] { return is_complete() || is_short_; });
  if (is_complete()) return;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t member = 0; member < is_connected_.size(); ++member) {
    if (!is_connected_[member]) missing.push_back(member);
  }
  if (is_short_) {
    throw Error(ErrorCode::unsupported,
                "rank " + std::to_string(place_.self) + " cannot connect to " +
                    name_ranks(missing, missing.size()) + ": " + system_reason(EMFILE));
  }
  throw Error(ErrorCode::timed_out,
              "rank " + std::to_string(place_.self) + " has no control connection to " +
                  name_ranks(missing, missing.size()) + ": check that it still runs");
}

// In the transport's thread
// ---------------------------------------------------------------------------------

void Mesh::run() {
  for (std::uint32_t member = place_.self + 1; member < members_.size(); ++member) dial(member);
  bool soon = false;
  std::optional<Clock::time_point> end;
  Watch::Events events;
  while (true) {
    for (const epoll_event& event : watch_.wait(wait_time(soon), events)) handle(Watch::tag(event));
    send_queued();
    const Clock::time_point now = Clock::now();
    reception_.close_late(now);
    if (reception_.is_shut()) reception_.open_door(now);
    for (std::uint32_t member = 0; member < members_.size(); ++member) {
      const Dial* const dialled = members_[member].dial.get();
      if (dialled != nullptr && dialled->due() <= now) dial(member);
    }
    const bool ticks = lifeline_.tick();
    const std::lock_guard lock(mutex_);
    soon = ticks;
    ticks_ = false;
    if (!is_short_ && is_short_of_descriptors(now)) {
      is_short_ = true;
      complete_.notify_all();
    }
    if (!ends_) continue;
    if (!end) end = now + drain_time;
    if ((queue_.empty() && !has_unsent()) || now >= *end) return;
    soon = true;
  }
}

std::chrono::milliseconds Mesh::wait_time(bool soon) const {
  std::chrono::milliseconds time = soon || reception_.is_shut() ? short_wait : long_wait;
  const Clock::time_point now = Clock::now();
  for (const Member& member : members_) {
    if (!member.dial) continue;
    time = std::min(time, std::chrono::ceil<std::chrono::milliseconds>(
                              std::max(member.dial->due() - now, Clock::duration::zero())));
  }
  return time;
}

bool Mesh::is_short_of_descriptors(Clock::time_point now) const {
  return reception_.shortage().lasts(now) ||
         std::any_of(members_.begin(), members_.end(), [&](const Member& member) {
           return member.dial && member.dial->shortage().lasts(now);
         });
}

bool Mesh::has_unsent() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& member) {
    return member.channel && !member.is_lost && member.channel->has_unsent();
  });
}

void Mesh::send_queued() {
  std::deque<Outgoing> queue;
  {
    const std::lock_guard lock(mutex_);
    queue.swap(queue_);
  }
  std::vector<bool> has_queued(members_.size());
  for (Outgoing& each : queue) {
    Member& member = members_[each.to];
    if (!member.channel || member.is_lost) continue;
    member.channel->send(Frame::Kind::control, each.message);
    has_queued[each.to] = true;
  }
  for (std::uint32_t to = 0; to < members_.size(); ++to) {
    if (has_queued[to]) serve(to);
  }
}

void Mesh::handle(Watch::Tag tag) {
  switch (tag.kind) {
    case Watch::Kind::listener:
      reception_.open_door(Clock::now());
      return;
    case Watch::Kind::unauthenticated:
      if (auto peer = reception_.advance(tag.index)) adopt(peer->rank, std::move(peer->channel));
      reception_.open_door(Clock::now());
      return;
    case Watch::Kind::dial:
      dial(tag.index);
      return;
    case Watch::Kind::connection:
      serve(tag.index);
      return;
    case Watch::Kind::process:
      // Its last messages first.
      serve(tag.index);
      lose(tag.index, "its process has ended");
      return;
    case Watch::Kind::bell:
      std::uint64_t count = 0;
      (void)!::read(wakeup_, &count, sizeof count);
      return;
  }
}

void Mesh::dial(std::uint32_t index) {
  Member& member = members_[index];
  if (member.channel) return;
  if (!member.dial) {
    member.dial = std::make_unique<Dial>(Rank{index}, place_.contacts[index], Rank{place_.self},
                                         place_.group, place_.secret, watch_);
  }
  if (auto channel = member.dial->advance(Clock::now())) adopt(index, std::move(*channel));
}

void Mesh::adopt(std::uint32_t index, Channel channel) {
  Member& member = members_[index];
  if (member.channel) return;
  member.dial.reset();
  set_keep_alive(channel.fd(), place_.lost_after);
  watch_.add(channel.fd(), {.kind = Watch::Kind::connection, .index = index}, true);
  member.channel = std::make_unique<FramedChannel>(std::move(channel));
  watch_process(index);
  serve(index);
  const std::lock_guard lock(mutex_);
  is_connected_[index] = true;
  complete_.notify_all();
}

void Mesh::watch_process(std::uint32_t index) {
  Member& member = members_[index];
  member.process = watch_for_end(place_.processes.empty() ? 0 : place_.processes[index]);
  if (member.process < 0) return;
  watch_.add(member.process, {.kind = Watch::Kind::process, .index = index}, false);
}

/// Reads and writes until neither makes progress.
void Mesh::serve(std::uint32_t index) {
  Member& member = members_[index];
  if (!member.channel || member.is_lost) return;
  while (true) {
    member.channel->advance();
    const std::optional<Frame> frame = member.channel->next();
    if (!frame) break;
    if (frame->kind == Frame::Kind::control) lifeline_.receive(index, frame->body);
  }
  if (!member.channel->lost().empty()) lose(index, member.channel->lost());
}

void Mesh::lose(std::uint32_t index, const std::string& why) {
  Member& member = members_[index];
  if (std::exchange(member.is_lost, true)) return;
  watch_.remove(member.channel->socket().fd());
  if (member.process >= 0) {
    watch_.remove(member.process);
    close(std::exchange(member.process, -1));
  }
  lifeline_.lose(index, why);
}

}  // namespace tutti
