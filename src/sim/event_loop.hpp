#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <tutti/sim/simulation.hpp>

#include "sim/event_queue.hpp"
#include "sim/fair_shares.hpp"
#include "sim/meter.hpp"
#include "sim/noise.hpp"
#include "sim/pair_order.hpp"
#include "sim/port_limiter.hpp"
#include "sim/route_table.hpp"
#include "sim/workload.hpp"

namespace tutti {

/// Discrete-event simulation of a workload on a network. Results are written to the messages and
/// folds of the workload.
///
/// A message departs when its data is ready and its ports are free. After alpha and the latency of
/// its route its bytes flow, at the rate given by FairShares, or at a fixed rate if no other flow
/// can share its links. It arrives with its last byte. The slices of one message flow one after the
/// other. A fold begins when all its operands are ready.
///
/// In many workloads no message ever competes with another one for a link or a port. Its times then
/// follow from those of the items before it, and nothing has to be sorted by time.
class EventLoop {
 public:
  /// Requires: workload, routes and settings outlive this.
  /// `receivers`: the actual receiver of each message, if some ranks stand for all; else empty.
  EventLoop(Workload& workload, const RouteTable& routes, std::vector<double> capacities,
            const SimulationSettings& settings, std::span<const std::uint32_t> receivers = {});

  /// Called from time to time with the number of messages that have arrived.
  using Progress = std::function<void(std::uint64_t)>;

  /// Throws invalid_argument on a deadlock of the schedule. Call it once.
  void run(const std::string& name, const Progress& progress);

  /// Time at which everything is done.
  [[nodiscard]] double end() const { return now_; }
  /// Duration of a message on an idle network, and of a reduction.
  [[nodiscard]] double alone(const Workload::Message& message) const;
  [[nodiscard]] double time_to_add(std::uint32_t fold) const;
  [[nodiscard]] const Meter& meter() const { return meter_; }
  /// Time at which each rank has received and sent everything.
  [[nodiscard]] const std::vector<double>& finished() const { return finished_; }
  /// Sum over all messages.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// The fold that was done last, the first of several; none if there are no folds.
  [[nodiscard]] std::uint32_t last_fold() const { return last_fold_; }

 private:
  using Item = Workload::Item;

  /// The number of messages between two reports of progress.
  static constexpr std::uint64_t between_calls = 1U << 16;

  /// An activity in progress.
  struct Task {
    enum class Kind : std::uint8_t { latency, flow, lonely_flow, sum } kind = Kind::latency;
    std::uint32_t id = 0;  // Message or fold.
    double left = 0;       // For a flow: remaining bytes at time `since`.
    double rate = 0;       // Bytes per second.
    double since = 0;      // Time of the last update.
  };

  /// The unit of a rank that computes reductions, one at a time.
  struct Adder {
    bool busy = false;
    std::deque<std::uint32_t> queue;  // Folds.
  };

  class InOrder;

  void find_lonely_routes();
  void run_by_time(const Progress& progress);
  void run_in_order(const Progress& progress);
  [[nodiscard]] bool nothing_competes() const;
  [[nodiscard]] double end_of_moment() const;
  void start_what_waits_for_nothing();
  void handle(std::uint32_t slot);
  void data_there(std::uint32_t message, Item cause);
  void may_depart(std::uint32_t message, Item cause);
  void depart();
  void depart(std::uint32_t message, Item cause);
  [[nodiscard]] Item cause_of_departure(const PortLimiter::Departure& departure) const;
  void depart_alone(std::uint32_t message, double flows_from, double rate);
  void begin_flow(std::uint32_t slot);
  void end_flow(std::uint32_t slot);
  void end_lonely_flow(std::uint32_t slot);
  void arrive(std::uint32_t slot);
  void settle();
  void operand_there(std::uint32_t fold, Item cause);
  void begin_fold(std::uint32_t fold);
  void add(std::uint32_t fold);
  void end_sum(std::uint32_t slot);
  void finish_folds();
  void done(std::uint32_t fold);
  [[nodiscard]] std::uint32_t take_slot(const Task& task);

  Workload& workload_;
  const RouteTable& routes_;
  const SimulationSettings& settings_;
  Noise noise_;
  std::vector<double> capacities_;
  std::vector<double> lonely_rates_;  // Fixed rate of each route; 0 if its links may be shared.
  FairShares shares_;
  Meter meter_;
  std::optional<PortLimiter> ports_;  // Empty if ports are unlimited, or nothing competes for them.
  std::optional<PairOrder> order_;  // Empty unless messages of a pair have to wait for each other.
  bool is_in_order_ = false;        // Nothing competes, so nothing has to be sorted by time.
  EventQueue events_;               // Indexed by task slot.
  std::vector<Task> tasks_;
  std::vector<std::uint32_t> unused_slots_;
  double now_ = 0;
  std::vector<double> finished_;  // Indexed by rank; so far.

  std::vector<Adder> adders_;
  std::vector<std::uint32_t>
      finished_folds_;  // Folds that are done but whose dependents do not know yet.
  std::vector<std::uint32_t> ready_messages_;  // Messages that can depart, if ports are unlimited.
  std::unordered_map<std::uint32_t, std::uint32_t>
      held_;  // By slice: the task of the next slice, which flows as soon as this one has arrived.
  std::uint64_t passed_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint32_t last_fold_ = Workload::none;
};

}  // namespace tutti
