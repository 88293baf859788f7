#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include <tutti/sim/simulation.hpp>

#include "sim/event_queue.hpp"
#include "sim/fair_shares.hpp"
#include "sim/meter.hpp"
#include "sim/noise.hpp"
#include "sim/port_limiter.hpp"
#include "sim/route_table.hpp"
#include "sim/workload.hpp"

namespace tutti {

/// Runs a workload on a network: from one moment at which something begins or ends to the next.
/// What comes of messages and folds is noted where they stand.
///
/// A message leaves when what it carries is there and its ports are free. It takes alpha and the
/// latency of its route before its bytes flow, at the rate that fair_shares gives, or at a rate
/// that is known beforehand if it cannot meet others; when the last has flowed it has arrived. A
/// fold begins when all its operands are there.
class EventLoop {
 public:
  /// Requires: workload, routes and settings outlive this.
  EventLoop(Workload& workload, const RouteTable& routes, std::vector<double> capacities,
            const SimulationSettings& settings);

  /// Called now and then with the number of messages that have arrived.
  using Progress = std::function<void(std::uint64_t)>;

  /// Throws invalid_argument if the schedule comes to a halt. To be called once.
  void run(const std::string& name, const Progress& progress);

  /// When all was done.
  [[nodiscard]] double end() const { return now_; }
  /// How long a message takes with the network to itself, and how long a sum.
  [[nodiscard]] double alone(const Workload::Message& message) const;
  [[nodiscard]] double time_to_add(std::uint32_t fold) const;
  [[nodiscard]] const Meter& meter() const { return meter_; }
  /// When each rank has got all that it receives, and sent all.
  [[nodiscard]] const std::vector<double>& finished() const { return finished_; }
  /// Of all messages.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// The one that was done last, the first of several; none if there is none.
  [[nodiscard]] std::uint32_t last_fold() const { return last_fold_; }

 private:
  using Item = Workload::Item;

  /// Something under way that has an end.
  struct Task {
    enum class Kind : std::uint8_t { latency, flow, lonely_flow, sum } kind = Kind::latency;
    std::uint32_t id = 0;  // Message or fold.
    double left = 0;       // Of a flow: bytes,
    double rate = 0;       // of which so many a second go
    double since = 0;      // since.
  };

  /// The one that adds for a rank.
  struct Adder {
    bool busy = false;
    std::deque<std::uint32_t> queue;  // Folds.
  };

  void find_lonely_routes();
  void start_what_waits_for_nothing();
  void handle(std::uint32_t slot);
  void data_there(std::uint32_t message, Item cause);
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
  std::vector<double> lonely_rates_;  // By route: of whatever flows on it; 0 if it may meet others.
  FairShares shares_;
  Meter meter_;
  std::optional<PortLimiter> ports_;  // None if they are unlimited.
  EventQueue events_;                 // By slot of the task.
  std::vector<Task> tasks_;
  std::vector<std::uint32_t> unused_slots_;
  double now_ = 0;
  std::vector<double> finished_;  // By rank, so far.

  std::vector<Adder> adders_;
  std::vector<std::uint32_t> whole_;    // Folds that are done, and of which nobody was told.
  std::vector<std::uint32_t> at_hand_;  // Messages that can leave, if ports are unlimited.
  std::uint64_t passed_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint32_t last_fold_ = Workload::none;
};

}  // namespace tutti
