#include "sim/assembly.hpp"

#include <algorithm>
#include <utility>

#include "core/workers.hpp"

namespace tutti {
namespace {

/// The last message between two ranks, for schedules that are cut into slices.
class EarlierSlices {
 public:
  explicit EarlierSlices(std::size_t hops) : last_(hops) {}

  /// How many messages ago the hop had a message of the same round; 0 if it had none.
  std::uint16_t distance(const Reading::Send& send, std::uint32_t number) {
    Last& last = last_[send.hop];
    const std::uint32_t before = last.round == send.round ? number - last.number : 0;
    last = {.round = send.round, .number = number};
    return before <= UINT16_MAX ? static_cast<std::uint16_t>(before) : 0;
  }

 private:
  struct Last {
    std::uint32_t round = Reading::none;
    std::uint32_t number = 0;
  };
  std::vector<Last> last_;  // By hop.
};

}  // namespace

Workload::Assembly::Assembly(Workload& into, std::span<Reading> readings,
                             const ScheduleSource& source)
    : into_(into), readings_(readings), source_(source), numbers_(readings.size()) {
  for (const Reading& reading : readings_) {
    const std::size_t sent = into_.first_outgoing_.back();
    const std::size_t received = into_.first_incoming_.back();
    for (std::uint32_t i = 1; i <= reading.ranks(); ++i) {
      into_.first_outgoing_.push_back(sent + reading.first(i).send);
      into_.first_incoming_.push_back(received + reading.first(i).end);
    }
  }
  divide_rounds();
  in_parallel(readings_.size(), [&](std::size_t i) { number(readings_[i], numbers_[i]); });
}

/// Assigns each reading its range of numbers in each round, and resizes the workload.
void Workload::Assembly::divide_rounds() {
  std::size_t rounds = 0;
  for (const Reading& each : readings_) rounds = std::max(rounds, each.by_round().size());
  for (std::size_t i = 0; i < readings_.size(); ++i) {
    numbers_[i].next.assign(readings_[i].by_round().begin(), readings_[i].by_round().end());
    numbers_[i].next.resize(rounds);
  }
  std::size_t sends = 0;
  std::size_t receives = 0;
  std::size_t waiters = 0;
  const auto next = [](std::size_t& total, std::uint32_t& count) {
    total += std::exchange(count, static_cast<std::uint32_t>(total));
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    for (Numbers& each : numbers_) {
      next(sends, each.next[round].sends);
      next(receives, each.next[round].receives);
      next(waiters, each.next[round].waiters);
    }
  }
  check_numbers(std::max({sends, receives, waiters}));
  into_.messages.resize(sends);
  into_.outgoing_.resize(sends);
  into_.incoming_.resize(into_.first_incoming_.back());
  into_.folds.resize(receives);
  into_.waiters_.resize(waiters);
}

void Workload::Assembly::number(const Reading& reading, Numbers& numbers) const {
  numbers.messages.reserve(reading.sends().size());
  for (const Reading::Send& each : reading.sends()) {
    numbers.messages.push_back(numbers.next[each.round].sends++);
  }
  numbers.folds.reserve(reading.receives().size());
  for (const Reading::Receive& each : reading.receives()) {
    numbers.folds.push_back(numbers.next[each.round].receives++);
  }
}

/// Counting sort by receiver. It is stable, so the messages from one sender stay in order.
void Workload::Assembly::deliver(std::vector<std::uint32_t>* receivers) {
  const std::uint32_t p = into_.ranks();
  const std::uint32_t all = source_.contract.ranks;
  if (receivers != nullptr) receivers->resize(into_.messages.size());
  std::vector<std::vector<std::size_t>> next(readings_.size(), std::vector<std::size_t>(p, 0));
  in_parallel(readings_.size(), [&](std::size_t i) {
    for (const Reading::Send& each : readings_[i].sends()) {
      ++next[i][each.to < p ? each.to : each.to % p];
    }
  });
  std::size_t total = 0;
  for (std::uint32_t r = 0; r < p; ++r) {
    for (auto& each : next) total += std::exchange(each[r], total);
    first_arrival_.push_back(total);
  }
  arrivals_.resize(total);
  in_parallel(readings_.size(), [&](std::size_t i) {
    Reading& reading = readings_[i];
    for (std::uint32_t r = 0; r < reading.ranks(); ++r) {
      for (std::size_t k = reading.first(r).send; k < reading.first(r + 1).send; ++k) {
        Reading::Send& send = reading.sends()[k];
        std::uint32_t sender = reading.first_rank() + r;
        const std::uint32_t message = numbers_[i].messages[k];
        if (receivers != nullptr) {
          (*receivers)[message] = send.to;
          const std::uint32_t there = send.to % p;
          sender = (sender + all - (send.to - there)) % all;
          send.to = there;
        }
        arrivals_[next[i][send.to]++] = {.send = &send, .sender = sender, .message = message};
      }
    }
  });
}

void Workload::Assembly::meet() {
  in_parallel(readings_.size(), [&](std::size_t i) { meet_in(readings_[i], numbers_[i]); });
  arrivals_ = {};
}

void Workload::Assembly::meet_in(const Reading& reading, const Numbers& numbers) {
  const auto reject = [&] {
    reject_unverified(source_.name, "some of its sends and receives do not match");
  };
  std::vector<std::uint32_t> first(source_.contract.ranks, none);  // By sender: its next end.
  std::vector<std::uint32_t> next;                                 // By end: the end after it.
  std::vector<const Arrival*> by_end;
  for (std::uint32_t i = 0; i < reading.ranks(); ++i) {
    const std::uint32_t rank = reading.first_rank() + i;
    const auto ends = reading.ends().subspan(reading.first(i).end,
                                             reading.first(i + 1).end - reading.first(i).end);
    if (first_arrival_[rank + 1] - first_arrival_[rank] != ends.size()) reject();
    next.resize(ends.size());
    by_end.resize(ends.size());
    for (auto k = static_cast<std::uint32_t>(ends.size()); k-- > 0;) {
      next[k] = std::exchange(first[ends[k].sender], k);
    }
    for (std::size_t k = first_arrival_[rank]; k < first_arrival_[rank + 1]; ++k) {
      const Arrival& arrival = arrivals_[k];
      const std::uint32_t end = first[arrival.sender];
      if (end == none) reject();
      first[arrival.sender] = next[end];
      arrival.send->fold = numbers.folds[ends[end].receive];
      by_end[end] = &arrival;
    }
    list_incoming(rank, by_end);
  }
}

void Workload::Assembly::list_incoming(std::uint32_t rank, std::span<const Arrival* const> by_end) {
  Passage* const incoming = into_.incoming_.data() + into_.first_incoming_[rank];
  for (std::size_t k = 0; k < by_end.size(); ++k) {
    const bool last =
        k + 1 == by_end.size() || by_end[k]->send->round != by_end[k + 1]->send->round;
    incoming[k] = {.message = by_end[k]->message, .last_in_round = last ? 1U : 0U};
  }
}

void Workload::Assembly::write(std::span<const std::vector<std::uint32_t>> routes, bool in_order) {
  in_parallel(readings_.size(), [&](std::size_t i) {
    write_messages(readings_[i], numbers_[i], routes[i], in_order);
    write_folds(readings_[i], numbers_[i]);
  });
}

void Workload::Assembly::write_messages(const Reading& reading, const Numbers& numbers,
                                        std::span<const std::uint32_t> routes, bool in_order) {
  EarlierSlices slices(in_order ? reading.hops().size() : 0);
  for (std::uint32_t i = 0; i < reading.ranks(); ++i) {
    const std::uint32_t rank = reading.first_rank() + i;
    const std::size_t first = reading.first(i).send;
    const auto sends = reading.sends().subspan(first, reading.first(i + 1).send - first);
    std::uint32_t slot = 0;
    for (std::size_t k = 0; k < sends.size(); ++k) {
      const Reading::Send& send = sends[k];
      const std::uint32_t number = numbers.messages[first + k];
      const bool last = k + 1 == sends.size() || send.round != sends[k + 1].round;
      into_.messages[number] = {
          .from = rank,
          .to = send.to,
          .round = send.round,
          .slot = slot,
          .fold = send.fold,
          .route = routes[send.hop],
          .bytes = send.bytes,
          .waits = send.waits,
          .after = in_order ? slices.distance(send, number) : std::uint16_t{0}};
      into_.outgoing_[into_.first_outgoing_[rank] + k] = {.message = number,
                                                          .last_in_round = last ? 1U : 0U};
      slot = last ? 0 : slot + 1;
    }
  }
}

void Workload::Assembly::write_folds(const Reading& reading, Numbers& numbers) {
  for (std::uint32_t i = 0; i < reading.ranks(); ++i) {
    for (std::size_t k = reading.first(i).receive; k < reading.first(i + 1).receive; ++k) {
      const Reading::Receive& receive = reading.receives()[k];
      std::uint32_t& waiter = numbers.next[receive.round].waiters;
      into_.folds[numbers.folds[k]] = {.rank = reading.first_rank() + i,
                                       .round = receive.round,
                                       .operands = receive.operands,
                                       .waits = receive.waits,
                                       .first_waiter = waiter,
                                       .waiters = receive.waiters,
                                       .bytes = receive.bytes};
      for (const Item item : reading.waiters(receive)) {
        into_.waiters_[waiter++] = item.is_fold() ? Item::fold(numbers.folds[item.id()])
                                                  : Item::message(numbers.messages[item.id()]);
      }
    }
  }
}

}  // namespace tutti
