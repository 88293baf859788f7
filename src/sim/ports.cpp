#include "sim/ports.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti {

Ports::Ports(const Workload& workload, std::uint32_t limit)
    : workload_(workload),
      limit_(limit),
      bars_(workload.messages.size(), 3),
      out_(workload.ranks()),
      in_(workload.ranks()),
      senders_(workload.ranks()),
      queues_(workload.ranks()),
      wanted_(workload.ranks(), 0) {
  for (std::uint32_t r = 0; r < workload.ranks(); ++r) {
    std::tie(out_[r].opened, out_[r].end) = workload.outgoing(r);
    std::tie(in_[r].opened, in_[r].end) = workload.incoming_range(r);
    open_next_round_out(r);
    open_next_round_in(r);
  }
}

void Ports::unbar(std::uint32_t message) {
  if (--bars_[message] > 0) return;
  const std::uint32_t rank = workload_.messages[message].from;
  senders_[rank].ready.push(message);  // Within a rank and round, numbers follow slots.
  try_soon(rank);
}

void Ports::open_next_round_out(std::uint32_t rank) {
  Side& side = out_[rank];
  const std::size_t begin = side.opened;
  while (side.opened < side.end &&
         workload_.messages[side.opened].round == workload_.messages[begin].round) {
    ++side.opened;
  }
  side.to_leave = static_cast<std::uint32_t>(side.opened - begin);
  for (std::size_t i = begin; i < begin + side.to_leave; ++i) unbar(static_cast<std::uint32_t>(i));
}

void Ports::open_next_round_in(std::uint32_t rank) {
  Side& side = in_[rank];
  const std::size_t begin = side.opened;
  while (side.opened < side.end && workload_.messages[incoming(side.opened)].round ==
                                       workload_.messages[incoming(begin)].round) {
    ++side.opened;
  }
  side.to_leave = static_cast<std::uint32_t>(side.opened - begin);
  for (std::size_t i = begin; i < begin + side.to_leave; ++i) unbar(incoming(i));
}

void Ports::try_soon(std::uint32_t rank) {
  Sender& sender = senders_[rank];
  if (sender.tries || sender.ready.empty() || out_[rank].busy == limit_) return;
  if (sender.waits_for == sender.ready.top()) return;
  sender.tries = true;
  trying_.push_back(rank);
}

void Ports::arrived(std::uint32_t id) {
  const Workload::Message& message = workload_.messages[id];
  for (Side* side : {&out_[message.from], &in_[message.to]}) {
    --side->busy;
    side->last = id;
  }
  freed_.push_back(message.to);
  try_soon(message.from);
}

std::span<const Ports::Departure> Ports::departures() {
  departures_.clear();
  while (!trying_.empty() || !freed_.empty()) {
    for (const std::uint32_t rank : freed_) call_those_who_wait(rank);
    freed_.clear();
    std::swap(attempts_, trying_);
    trying_.clear();
    sort_attempts();
    for (const std::uint32_t rank : attempts_) attempt(rank);
  }
  return departures_;
}

/// As many as there is room for; should others be first, these will wait again.
void Ports::call_those_who_wait(std::uint32_t rank) {
  Queue& queue = queues_[rank];
  for (std::uint32_t room = limit_ - in_[rank].busy; room > 0 && !queue.empty();) {
    const Queued first = queue.top();
    queue.pop();
    Sender& sender = senders_[first.rank];
    if (sender.waits_for != first.message) continue;  // Has found something else to send.
    sender.waits_for = none;
    try_soon(first.rank);
    --room;
  }
}

/// The order matters only if two want to go to the same rank.
void Ports::sort_attempts() {
  ++batch_;
  bool contended = false;
  for (const std::uint32_t rank : attempts_) {
    const std::uint32_t to = workload_.messages[senders_[rank].ready.top()].to;
    contended = contended || std::exchange(wanted_[to], batch_) == batch_;
  }
  if (!contended) return;
  const auto key = [&](std::uint32_t rank) {
    const Workload::Message& message = workload_.messages[senders_[rank].ready.top()];
    return std::tuple(message.round, message.slot, rank);
  };
  std::sort(attempts_.begin(), attempts_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

/// The rank's first message goes if its receiver has room, and else waits for it.
void Ports::attempt(std::uint32_t rank) {
  Sender& sender = senders_[rank];
  sender.tries = false;
  const std::uint32_t id = sender.ready.top();
  const Workload::Message& message = workload_.messages[id];
  if (in_[message.to].busy == limit_) {
    sender.waits_for = id;
    queues_[message.to].push({message.round, message.slot, rank, id});
    return;
  }
  sender.waits_for = none;
  sender.ready.pop();
  depart(id);
  try_soon(rank);
}

void Ports::depart(std::uint32_t id) {
  const Workload::Message& message = workload_.messages[id];
  Side& out = out_[message.from];
  Side& in = in_[message.to];
  departures_.push_back({.message = id, .last_out = out.last, .last_in = in.last});
  ++out.busy;
  ++in.busy;
  if (--out.to_leave == 0) open_next_round_out(message.from);
  if (--in.to_leave == 0) open_next_round_in(message.to);
}

}  // namespace tutti
