#include "lifeline/mesh.hpp"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
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
/// How long the destructor may take to send queued messages, and to tell all that it departs.
constexpr auto drain_time = 500ms;
/// If a member refuses connections, how long the word may take that it has departed or is lost.
constexpr auto word_time = 2s;
/// How long a member that others report as lost may take to accept a connection.
constexpr auto check_time = 400ms;

/// A member that a neighbour rejects for good goes on to answer for this time: the neighbour may
/// dial as well, and is to learn the reason.
constexpr auto answers_for = 2s;

/// A pidfd, which becomes readable when the process ends; -1 if there is none.
int watch_for_end(int process) {
  if (process <= 0 || process == getpid()) return -1;
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
}

}  // namespace

Mesh::Mesh(Place place, Lifeline& lifeline, Clock::time_point deadline)
    : place_(std::move(place)),
      lifeline_(lifeline),
      acceptor_(std::move(place_.listener), watch_, place_.secret, place_.group, place_.self,
                static_cast<std::uint32_t>(place_.contacts.size())),
      neighbours_(neighbours_of(place_.self, static_cast<std::uint32_t>(place_.contacts.size()),
                                place_.fully_connected)),
      members_(place_.contacts.size()),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      is_known_(place_.contacts.size()) {
  if (wakeup_ < 0) {
    throw Error(ErrorCode::unsupported,
                "cannot make an eventfd for the failure detector: " + system_reason(errno));
  }
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
    await_neighbours(deadline);
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

void Mesh::send(std::uint32_t to, std::string message, Delivery delivery) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({.to = to, .message = std::move(message), .delivery = delivery});
  }
  wake();
}

std::size_t Mesh::connections() {
  const std::lock_guard lock(mutex_);
  return connections_;
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

void Mesh::await_neighbours(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto is_complete = [&] {
    return std::all_of(neighbours_.begin(), neighbours_.end(),
                       [&](std::uint32_t member) { return is_known_[member]; });
  };
  (void)complete_.wait_until(lock, deadline,
                             [&] { return is_complete() || is_short_ || !rejection_.empty(); });
  if (is_complete()) return;
  if (!rejection_.empty()) {
    throw Error(ErrorCode::mismatch, "rank " + std::to_string(place_.self) +
                                         " has no control connection to " + rejection_);
  }
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t member : neighbours_) {
    if (!is_known_[member]) missing.push_back(member);
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
  for (const std::uint32_t member : neighbours_) {
    if (!watch_process(member)) lose(member, "its process has ended");
    if (member > place_.self) need(member, until_connected, "it refuses connections");
  }
  bool soon = false;
  bool departs = false;
  std::optional<Clock::time_point> end;
  Watch::Events events;
  while (true) {
    for (const epoll_event& event : watch_.wait(wait_time(soon), events)) handle(Watch::tag(event));
    send_queued();
    const Clock::time_point now = Clock::now();
    acceptor_.close_late(now);
    if (acceptor_.may_be_pending()) acceptor_.accept_pending(now);
    for (std::uint32_t member = 0; member < members_.size(); ++member) {
      const Dial* const dialled = members_[member].dial.get();
      if (dialled != nullptr && dialled->due() <= now) dial(member);
      lose_unreachable(member, now);
    }
    // A neighbour that dials this member may have been rejected. Dialling it tells whether it was.
    for (const std::uint32_t member : neighbours_) {
      if (acceptor_.final_refusals() > 0) need(member, until_connected, "it refuses connections");
    }
    take_farewells(now);
    const bool ticks = lifeline_.tick();
    bool ends = false;
    {
      const std::lock_guard lock(mutex_);
      soon = ticks;
      ticks_ = false;
      if (!is_short_ && is_short_of_descriptors(now)) {
        is_short_ = true;
        complete_.notify_all();
      }
      if (rejection_.empty() && !(rejection_ = rejection(now)).empty()) complete_.notify_all();
      ends = ends_;
    }
    if (!ends) continue;
    if (!end) end = now + drain_time;
    const bool is_late = now >= *end;
    // What was sent before comes first.
    if (!departs && (!has_unsent() || is_late)) {
      departs = true;
      depart();
    }
    if ((departs && !has_unsent() && may_end()) || is_late) return;
    soon = true;
  }
}

std::chrono::milliseconds Mesh::wait_time(bool soon) const {
  std::chrono::milliseconds time = soon || acceptor_.may_be_pending() ? short_wait : long_wait;
  const Clock::time_point now = Clock::now();
  for (const Member& member : members_) {
    if (!member.dial) continue;
    const Clock::time_point next = std::min(member.dial->due(), member.lost_at);
    time = std::min(time, std::chrono::ceil<std::chrono::milliseconds>(
                              std::max(next - now, Clock::duration::zero())));
  }
  return time;
}

bool Mesh::is_short_of_descriptors(Clock::time_point now) const {
  return acceptor_.shortage().lasts(now) ||
         std::any_of(members_.begin(), members_.end(), [&](const Member& member) {
           return member.dial && member.dial->shortage().lasts(now);
         });
}

std::string Mesh::rejection(Clock::time_point now) const {
  for (const std::uint32_t member : neighbours_) {
    const Dial* const dial = members_[member].dial.get();
    if (dial == nullptr || !dial->is_hopeless()) continue;
    if (now < *dial->hopeless_since() + answers_for) continue;
    return "rank " + std::to_string(member) + " at " + dial->attempts();
  }
  return "";
}

bool Mesh::has_unsent() {
  {
    const std::lock_guard lock(mutex_);
    if (!queue_.empty()) return true;
  }
  return std::any_of(members_.begin(), members_.end(), [](const Member& member) {
    return !member.waiting.empty() ||
           (!member.channels.empty() && member.channels.front()->has_unsent());
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
    if (member.is_lost) continue;
    if (!member.channels.empty()) {
      if (each.delivery == Delivery::if_not_connected) continue;
      member.channels.front()->send(Frame::Kind::control, each.message);
      has_queued[each.to] = true;
      continue;
    }
    if (each.delivery == Delivery::if_connected && member.waiting.empty()) continue;
    member.waiting.push_back(std::move(each.message));
    need(each.to, place_.lost_after, "it cannot be reached");
  }
  for (std::uint32_t to = 0; to < members_.size(); ++to) {
    if (has_queued[to]) serve(to);
  }
}

void Mesh::handle(Watch::Tag tag) {
  switch (tag.kind) {
    case Watch::Kind::listener:
      acceptor_.accept_pending(Clock::now());
      return;
    case Watch::Kind::unauthenticated:
      if (auto peer = acceptor_.advance(tag.index)) adopt(peer->rank, std::move(peer->channel));
      acceptor_.accept_pending(Clock::now());
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

/// Connects to a member. It is lost if that fails for so long.
void Mesh::need(std::uint32_t index, Clock::duration patience, const std::string& why_lost) {
  Member& member = members_[index];
  if (member.is_lost || !member.channels.empty()) return;
  const Clock::time_point lost_at = Clock::now() + patience;
  if (lost_at < member.lost_at) {
    member.lost_at = lost_at;
    member.why_lost = why_lost;
  }
  if (!member.dial) dial(index);
}

/// A member that refuses connections has ended: in order, unless its loss was reported. A neighbour
/// cannot have departed before it was connected.
void Mesh::lose_unreachable(std::uint32_t index, Clock::time_point now) {
  Member& member = members_[index];
  if (member.lost_at == Clock::time_point::max() || !member.channels.empty()) return;
  if (member.dial && member.dial->is_refused() && !member.dial->is_hopeless()) {
    const bool is_explained = member.departs || member.is_reported ||
                              std::binary_search(neighbours_.begin(), neighbours_.end(), index);
    member.lost_at = std::min(member.lost_at, is_explained ? now : now + word_time);
  }
  if (now >= member.lost_at) lose(index, member.why_lost);
}

void Mesh::dial(std::uint32_t index) {
  Member& member = members_[index];
  if (!member.dial) {
    member.dial = std::make_unique<Dial>(index, place_.contacts[index], place_.self, place_.group,
                                         place_.secret, watch_);
  }
  if (auto channel = member.dial->advance(Clock::now())) {
    member.dial.reset();
    adopt(index, std::move(*channel));
  } else if (!member.channels.empty() && !member.dial->is_kept_waiting()) {
    member.dial.reset();  // The other end has dialled too, and this attempt has failed.
  }
}

/// An own dial that is under way goes on: the other end may use that connection already.
void Mesh::adopt(std::uint32_t index, Channel channel) {
  Member& member = members_[index];
  if (member.is_lost) return;
  set_keep_alive(channel.fd(), place_.lost_after);
  watch_.add(channel.fd(), {.kind = Watch::Kind::connection, .index = index}, true);
  member.channels.push_back(std::make_unique<FramedChannel>(std::move(channel)));
  member.lost_at = Clock::time_point::max();
  if (member.process < 0) (void)watch_process(index);
  for (const std::string& message : std::exchange(member.waiting, {})) {
    member.channels.front()->send(Frame::Kind::control, message);
  }
  for (const std::string& departure : departures_) {
    member.channels.back()->send(Frame::Kind::departure, departure);
  }
  {
    const std::lock_guard lock(mutex_);
    if (member.channels.size() == 1) ++connections_;
    is_known_[index] = true;
    complete_.notify_all();
  }
  serve(index);
}

bool Mesh::watch_process(std::uint32_t index) {
  Member& member = members_[index];
  errno = 0;
  member.process = watch_for_end(place_.processes.empty() ? 0 : place_.processes[index]);
  if (member.process < 0) return errno != ESRCH;
  watch_.add(member.process, {.kind = Watch::Kind::process, .index = index}, false);
  return true;
}

/// Reads and writes until neither makes progress.
void Mesh::serve(std::uint32_t index) {
  Member& member = members_[index];
  std::string why_lost;
  for (std::size_t i = 0; i < member.channels.size(); ++i) {
    FramedChannel& channel = *member.channels[i];
    while (receive(index, channel)) {
    }
    if (!channel.lost().empty()) why_lost = channel.lost();
  }
  if (!why_lost.empty()) lose(index, why_lost);
}

/// False if there was nothing to receive.
bool Mesh::receive(std::uint32_t index, FramedChannel& channel) {
  channel.advance();
  const std::optional<Frame> frame = channel.next();
  if (!frame) return false;
  switch (frame->kind) {
    case Frame::Kind::control:
      lifeline_.receive(index, frame->body);
      break;
    case Frame::Kind::departure:
      hear_of_departure(index, frame->body);
      break;
    case Frame::Kind::loss:
      hear_of_loss(frame->body);
      break;
    default:
      break;
  }
  return true;
}

// Losses ----------------------------------------------------------------------------------------

void Mesh::lose(std::uint32_t index, const std::string& why) {
  Member& member = members_[index];
  if (std::exchange(member.is_lost, true)) return;
  for (const auto& channel : member.channels) watch_.remove(channel->socket().fd());
  if (member.process >= 0) {
    watch_.remove(member.process);
    close(std::exchange(member.process, -1));
  }
  member.dial.reset();
  member.waiting.clear();
  const bool was_connected = !member.channels.empty();
  member.channels.clear();
  if (!member.departs) report_loss(index, why);
  take_farewell(index);
  lifeline_.lose(index, why);
  stay_connected();
  const std::lock_guard lock(mutex_);
  if (was_connected) --connections_;
  is_known_[index] = true;
  complete_.notify_all();
}

/// If all members are connected to each other, each of them notices by itself.
void Mesh::report_loss(std::uint32_t index, const std::string& why) {
  if (std::exchange(members_[index].is_reported, true)) return;
  if (!is_full()) send_to_connected(Frame::Kind::loss, std::to_string(index) + " " + why);
}

void Mesh::send_to_connected(Frame::Kind kind, const std::string& body) {
  std::string wire;
  append(wire, kind, body);
  const auto shared = std::make_shared<const std::string>(std::move(wire));
  for (Member& member : members_) {
    if (member.channels.empty()) continue;
    member.channels.front()->send(shared);
    member.channels.front()->flush();
  }
}

/// The connection between two other members may be broken although both live, so this member finds
/// out for itself.
void Mesh::hear_of_loss(const std::string& body) {
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), index);
  if (error != std::errc{} || index >= members_.size() || index == place_.self) return;
  const std::string why =
      body.substr(std::min(body.size(), static_cast<std::size_t>(end - body.data() + 1)));
  const Member& member = members_[index];
  if (member.is_lost || member.is_reported || member.departs) return;
  report_loss(index, why);
  if (lifeline_.expects(index)) need(index, check_time, why);
}

}  // namespace tutti
