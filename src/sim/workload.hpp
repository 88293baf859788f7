#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

#include "sim/large_pages.hpp"
#include "sim/route_table.hpp"
#include "sim/work_item.hpp"

namespace tutti {

/// A schedule as the simulator sees it: messages, the folds in which they end, and the dependences.
/// Programs are read rank by rank and dropped.
class Workload {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  using Item = WorkItem;

  enum class State : std::uint8_t { waits, under_way, arrived };

  /// A message: its fixed data and, for locality, its results. Messages are numbered by round, then
  /// by sender, then in program order, so that messages of about the same time are close together
  /// in memory.
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;  // Index among the messages that its rank sends in the round.
    std::uint32_t fold = none;
    std::uint32_t route = 0;
    std::uint64_t bytes = 0;
    std::uint32_t waits = 0;  // Number of folds it waits for.
    std::uint8_t bars = 3;    // For PortLimiter: conditions not yet met (data, sender, receiver).
    State state = State::waits;
    /// If slices are served in order: the number of the earlier slice of the same message is this
    /// much lower; 0 if there is none.
    std::uint16_t after = 0;

    Item cause{};      // The last item it waited for.
    double begun = 0;  // Departure time; before departure, the time at which its data was ready.
    double arrived = 0;
  };

  /// The combination of the messages of a receive with the data of the rank.
  struct Fold {
    std::uint32_t rank = 0;
    std::uint32_t round = 0;
    std::uint32_t operands = 1;
    std::uint32_t waits = 0;         // Number of messages and folds it waits for.
    std::uint32_t first_waiter = 0;  // Index of its first dependent.
    std::uint32_t waiters = 0;       // Number of dependents.
    Item cause{};                    // The last item it waited for.
    std::uint64_t bytes = 0;
    double done = 0;
  };

  /// A message that a rank sends or receives.
  struct Passage {
    std::uint32_t message : 31;
    std::uint32_t last_in_round : 1;  // Among those that the rank sends, or receives.
  };

  /// Reads all programs of the source, on all cores if there are many steps. If `in_order`, the
  /// messages that a rank sends to another one in one round are slices of one message, which are
  /// served one after the other. Throws invalid_argument if sends and receives do not match.
  Workload(const ScheduleSource& source, const Layout& layout, RouteTable& routes,
           bool in_order = false);

  /// The route from a rank to another one.
  using RouteOf = std::function<std::uint32_t(std::uint32_t from, std::uint32_t to)>;

  /// The programs of the first `count` ranks, which stand for all: rank r + k·count does the same
  /// as rank r, shifted. A message from rank a to rank b arrives at rank q = b mod count, from rank
  /// a + q − b. Writes the actual receiver of each message to `receivers`.
  /// Requires: count divides the number of ranks, and the programs are shifted as described.
  [[nodiscard]] static Workload of_first_ranks(const ScheduleSource& source, const Layout& layout,
                                               std::uint32_t count, const RouteOf& route_of,
                                               bool in_order,
                                               std::vector<std::uint32_t>& receivers);

  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(first_outgoing_.size() - 1);
  }
  /// The messages that a rank sends, and those that it receives, in program order.
  [[nodiscard]] std::span<const Passage> outgoing(std::uint32_t rank) const {
    return {outgoing_.data() + first_outgoing_[rank],
            first_outgoing_[rank + 1] - first_outgoing_[rank]};
  }
  [[nodiscard]] std::span<const Passage> incoming(std::uint32_t rank) const {
    return {incoming_.data() + first_incoming_[rank],
            first_incoming_[rank + 1] - first_incoming_[rank]};
  }
  /// The messages and folds that wait for a fold.
  [[nodiscard]] std::span<const Item> waiters(const Fold& fold) const {
    return {waiters_.data() + fold.first_waiter, fold.waiters};
  }

  LargeVector<Message> messages;
  LargeVector<Fold> folds;

 private:
  class Assembly;

  Workload() = default;

  void build(const ScheduleSource& source, const Layout& layout, std::uint32_t count,
             const RouteOf& route_of, bool in_order, std::vector<std::uint32_t>* receivers);

  std::vector<std::size_t> first_outgoing_{0};
  LargeVector<Passage> outgoing_;
  std::vector<std::size_t> first_incoming_{0};
  LargeVector<Passage> incoming_;
  LargeVector<Item> waiters_;
};

}  // namespace tutti
