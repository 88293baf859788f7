#include <algorithm>
#include <span>

#include "sim/event_loop.hpp"

namespace tutti {

/// Computes times in the order of dependences instead of the order of time.
///
/// Requires: each rank sends and receives at most one message per round, with one port each way, no
/// two messages share a link, and adding takes no time. A message then departs when its data is
/// there and the messages before it, out of its sender and into its receiver, have arrived.
class EventLoop::InOrder {
 public:
  explicit InOrder(EventLoop& loop) : loop_(loop), work_(loop.workload_), turns_(work_.ranks()) {
    for (std::uint32_t rank = 0; rank < work_.ranks(); ++rank) {
      turns_[rank].out = work_.outgoing(rank);
      turns_[rank].in = work_.incoming(rank);
    }
  }

  void run(const Progress& progress) {
    std::uint64_t told = 0;
    begin();
    // A rank has at most one message here, so that this goes round by round, and through memory in
    // its order.
    std::vector<std::uint32_t> passing;
    while (!next_.empty()) {
      std::swap(passing, next_);
      for (const std::uint32_t each : passing) pass(each);
      passing.clear();
      if (progress && loop_.passed_ - told >= between_calls) progress(told = loop_.passed_);
    }
  }

 private:
  /// The messages out of a rank and into it that have not passed, and the last ones that have.
  struct Turns {
    std::span<const Workload::Passage> out{};
    std::span<const Workload::Passage> in{};
    std::uint32_t last_out = Workload::none;
    std::uint32_t last_in = Workload::none;
  };

  void begin() {
    for (std::uint32_t id = 0; id < work_.folds.size(); ++id) {
      if (work_.folds[id].waits == 0) waiting_folds_.push_back(id);
    }
    for (std::uint32_t id = 0; id < work_.messages.size(); ++id) {
      if (work_.messages[id].waits == 0) unbar(id);
    }
    finish_folds();
    for (const Turns& each : turns_) {
      if (!each.out.empty()) unbar(each.out.front().message);
      if (!each.in.empty()) unbar(each.in.front().message);
    }
  }

  /// One condition less: its data, its turn at the sender, its turn at the receiver.
  void unbar(std::uint32_t message) {
    if (--work_.messages[message].bars == 0) next_.push_back(message);
  }

  void pass(std::uint32_t id) {
    Workload::Message& message = work_.messages[id];
    Turns& sender = turns_[message.from];
    Turns& receiver = turns_[message.to];
    const double out_free = arrival(sender.last_out);
    const double in_free = arrival(receiver.last_in);
    const double ports_free = std::max(out_free, in_free);
    if (ports_free > message.begun) {
      message.begun = ports_free;
      message.cause = Item::message(out_free >= in_free ? sender.last_out : receiver.last_in);
    }
    send(id, message);
    sender.last_out = id;
    receiver.last_in = id;
    next_turn(sender.out);
    next_turn(receiver.in);
    operand_there(message.fold, message.arrived, Item::message(id));
    finish_folds();
  }

  [[nodiscard]] double arrival(std::uint32_t message) const {
    return message == Workload::none ? 0 : work_.messages[message].arrived;
  }

  /// As EventLoop::depart() and EventLoop::arrive().
  void send(std::uint32_t id, Workload::Message& message) {
    const double factor = loop_.noise_.factor(2 * std::uint64_t{id});
    const double latency = (loop_.settings_.alpha + loop_.routes_.latency(message.route)) * factor;
    const double flows_from = message.begun + latency;
    message.arrived = flows_from;
    const double rate = loop_.lonely_rates_[message.route];
    if (rate > 0 && message.bytes > 0) {
      const auto bytes = static_cast<double>(message.bytes);
      message.arrived += bytes * factor / rate;
      const auto route = loop_.routes_.crossings(message.route);
      for (const Crossing& each : route) {
        loop_.meter_.begin(each.link, flows_from);
        loop_.meter_.end(each.link, message.arrived);
      }
      loop_.meter_.carry(route, bytes);
    }
    message.state = Workload::State::arrived;
    loop_.now_ = std::max(loop_.now_, message.arrived);
    loop_.bytes_ += message.bytes;
    ++loop_.passed_;
    finished(message.from, message.arrived);
  }

  void next_turn(std::span<const Workload::Passage>& turns) {
    turns = turns.subspan(1);
    if (!turns.empty()) unbar(turns.front().message);
  }

  void operand_there(std::uint32_t id, double time, Item cause) {
    Workload::Fold& fold = work_.folds[id];
    if (time >= fold.done) {
      fold.done = time;
      fold.cause = cause;
    }
    if (--fold.waits == 0) waiting_folds_.push_back(id);
  }

  /// Notifies the dependents of the folds that are done.
  void finish_folds() {
    while (!waiting_folds_.empty()) {
      const std::uint32_t id = waiting_folds_.back();
      waiting_folds_.pop_back();
      const Workload::Fold& fold = work_.folds[id];
      finished(fold.rank, fold.done);
      note_last(id, fold.done);
      for (const Item waiter : work_.waiters(fold)) {
        if (waiter.is_fold()) {
          operand_there(waiter.id(), fold.done, Item::fold(id));
        } else {
          data_there(waiter.id(), fold.done, Item::fold(id));
        }
      }
    }
  }

  void data_there(std::uint32_t id, double time, Item cause) {
    Workload::Message& message = work_.messages[id];
    if (time >= message.begun) {
      message.begun = time;
      message.cause = cause;
    }
    if (--message.waits == 0) unbar(id);
  }

  void finished(std::uint32_t rank, double time) {
    loop_.finished_[rank] = std::max(loop_.finished_[rank], time);
  }

  void note_last(std::uint32_t id, double done) {
    if (loop_.last_fold_ != Workload::none) {
      const double before = work_.folds[loop_.last_fold_].done;
      if (done < before || (done == before && id > loop_.last_fold_)) return;
    }
    loop_.last_fold_ = id;
  }

  EventLoop& loop_;
  Workload& work_;
  std::vector<Turns> turns_;                  // Indexed by rank.
  std::vector<std::uint32_t> next_;           // Messages that meet no more conditions.
  std::vector<std::uint32_t> waiting_folds_;  // Folds whose dependents do not know yet.
};

void EventLoop::run_in_order(const Progress& progress) { InOrder(*this).run(progress); }

bool EventLoop::nothing_competes() const {
  // Over time, the meter has to see flows in the order of time.
  if (settings_.ports != 1 || settings_.gamma > 0 || meter_.over_time()) return false;
  for (std::uint32_t route = 0; route < routes_.size(); ++route) {
    if (lonely_rates_[route] == 0 && !routes_.crossings(route).empty()) return false;
  }
  const auto one_per_round = [](std::span<const Workload::Passage> passages) {
    return std::all_of(passages.begin(), passages.end(),
                       [](const Workload::Passage& each) { return each.last_in_round != 0; });
  };
  for (std::uint32_t rank = 0; rank < workload_.ranks(); ++rank) {
    if (!one_per_round(workload_.outgoing(rank)) || !one_per_round(workload_.incoming(rank))) {
      return false;
    }
  }
  return true;
}

}  // namespace tutti
