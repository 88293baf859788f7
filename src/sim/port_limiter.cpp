#include "sim/port_limiter.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace tutti {

PortLimiter::PortLimiter(Workload& workload, std::uint32_t limit)
    : workload_(workload), limit_(limit), stations_(workload.ranks()), queues_(workload.ranks()) {
  for (std::uint32_t r = 0; r < workload.ranks(); ++r) {
    Station& station = stations_[r];
    station.out.closed = workload.outgoing(r);
    station.in.closed = workload.incoming(r);
    open_next_round(station.out);
    open_next_round(station.in);
  }
}

void PortLimiter::unbar(std::uint32_t id) {
  if (--workload_.messages[id].bars == 0) fresh_.push_back(id);
}

/// Within a rank and round, message numbers increase with the slot.
void PortLimiter::add_ready(Station& station, std::uint32_t message) {
  if (station.first == none) {
    station.first = message;
    return;
  }
  station.others.push_back(std::max(message, station.first));
  std::push_heap(station.others.begin(), station.others.end(), std::greater<>());
  station.first = std::min(message, station.first);
}

void PortLimiter::take_first(Station& station) {
  station.first = none;
  if (station.others.empty()) return;
  std::pop_heap(station.others.begin(), station.others.end(), std::greater<>());
  station.first = station.others.back();
  station.others.pop_back();
}

void PortLimiter::open_next_round(Side& side) {
  while (!side.closed.empty()) {
    const Workload::Passage next = side.closed.front();
    side.closed = side.closed.subspan(1);
    ++side.to_leave;
    unbar(next.message);
    if (next.last_in_round == 0) continue;
    // The messages of the next round are needed soon, and not yet in any cache.
    if (!side.closed.empty())
      __builtin_prefetch(&workload_.messages[side.closed.front().message], 1);
    return;
  }
}

void PortLimiter::try_soon(std::uint32_t rank) {
  Station& station = stations_[rank];
  if (station.tries || station.first == none || station.out.busy == limit_) return;
  if (station.waits_for == station.first) return;
  station.tries = true;
  trying_.push_back(rank);
}

void PortLimiter::arrived(std::uint32_t id) {
  const Workload::Message& message = workload_.messages[id];
  for (Side* side : {&stations_[message.from].out, &stations_[message.to].in}) {
    --side->busy;
    side->last = id;
  }
  if (!queues_[message.to].empty()) freed_.push_back(message.to);
  try_soon(message.from);
}

std::span<const PortLimiter::Departure> PortLimiter::departures() {
  departures_.clear();
  while (!fresh_.empty() || !trying_.empty() || !freed_.empty()) {
    // Messages become ready first, so that ranks choose among all of them. Messages that become
    // ready during departures wait for the next iteration.
    for (const std::uint32_t id : fresh_) {
      const std::uint32_t rank = workload_.messages[id].from;
      add_ready(stations_[rank], id);
      try_soon(rank);
    }
    fresh_.clear();
    for (const std::uint32_t rank : freed_) wake_waiting_senders(rank);
    freed_.clear();
    std::swap(attempts_, trying_);
    trying_.clear();
    sort_attempts();
    for (const std::uint32_t rank : attempts_) attempt(rank);
  }
  return departures_;
}

/// Wakes as many senders as there are free ports. If others take the ports first, they wait again.
void PortLimiter::wake_waiting_senders(std::uint32_t rank) {
  Queue& queue = queues_[rank];
  for (std::uint32_t room = limit_ - stations_[rank].in.busy; room > 0 && !queue.empty();) {
    const Queued first = queue.top();
    queue.pop();
    Station& sender = stations_[first.rank];
    if (sender.waits_for != first.message) continue;  // It now tries another message.
    sender.waits_for = none;
    try_soon(first.rank);
    --room;
  }
}

/// The order matters only if two messages go to the same rank.
void PortLimiter::sort_attempts() {
  ++batch_;
  bool contended = false;
  for (const std::uint32_t rank : attempts_) {
    Station& receiver = stations_[workload_.messages[stations_[rank].first].to];
    contended = contended || std::exchange(receiver.wanted, batch_) == batch_;
  }
  if (!contended) return;
  const auto key = [&](std::uint32_t rank) {
    const Workload::Message& message = workload_.messages[stations_[rank].first];
    return std::tuple(message.round, message.slot, rank);
  };
  std::sort(attempts_.begin(), attempts_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

/// Starts the first message of the rank if its receiver has a free port; otherwise queues it there.
void PortLimiter::attempt(std::uint32_t rank) {
  Station& sender = stations_[rank];
  sender.tries = false;
  const std::uint32_t id = sender.first;
  const Workload::Message& message = workload_.messages[id];
  if (stations_[message.to].in.busy == limit_) {
    sender.waits_for = id;
    queues_[message.to].push({message.round, message.slot, rank, id});
    return;
  }
  sender.waits_for = none;
  take_first(sender);
  depart(id);
  try_soon(rank);
}

void PortLimiter::depart(std::uint32_t id) {
  const Workload::Message& message = workload_.messages[id];
  Side& out = stations_[message.from].out;
  Side& in = stations_[message.to].in;
  departures_.push_back({.message = id, .last_out = out.last, .last_in = in.last});
  ++out.busy;
  ++in.busy;
  if (--out.to_leave == 0) open_next_round(out);
  if (--in.to_leave == 0) open_next_round(in);
}

}  // namespace tutti
