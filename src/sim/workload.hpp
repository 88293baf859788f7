#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

#include "sim/large_pages.hpp"
#include "sim/route_table.hpp"
#include "sim/work_item.hpp"

namespace tutti {

/// A schedule as the simulator sees it: messages, the folds that they end in, and what waits for
/// what. Programs are read rank by rank and dropped.
class Workload {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  using Item = WorkItem;

  /// On its way from rank to rank: what is known beforehand and, as what is used together is best
  /// kept together, what comes of it. Messages are numbered by round, then by sender, then in the
  /// order of its program: what happens at about the same time stands close together.
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;  // Its place among those that its rank sends in the round.
    std::uint32_t fold = none;
    std::uint32_t route = 0;
    std::uint64_t bytes = 0;
    std::uint32_t waits = 0;  // For so many folds.
    std::uint8_t bars = 3;    // For ports to use: data, and both sides, stand in its way.

    Item cause{};      // What it had to wait for last.
    double begun = 0;  // When it left; until then, when what it carries was there.
    double arrived = 0;
  };

  /// What a receive makes of the messages that it waits for, and of what the rank had.
  struct Fold {
    std::uint32_t rank = 0;
    std::uint32_t round = 0;
    std::uint32_t operands = 1;
    std::uint32_t waits = 0;         // For so many messages and folds.
    std::uint32_t first_waiter = 0;  // Who waits for it stands here on,
    std::uint32_t waiters = 0;       // so many of them.
    Item cause{};                    // What it had to wait for last.
    std::uint64_t bytes = 0;
    double done = 0;
  };

  /// A message that a rank sends or receives.
  struct Passage {
    std::uint32_t message : 31;
    std::uint32_t last_in_round : 1;  // Of those that the rank sends, or receives.
  };

  /// Reads all programs of the source, where there is much to read on all cores. Throws
  /// invalid_argument if sends and receives do not meet.
  Workload(const ScheduleSource& source, const Layout& layout, RouteTable& routes);

  /// The program of one rank that stands for all: what it sends to the rank `d` further on, it
  /// receives from the one `d` before. Every distance has its route; how far each message goes is
  /// left in `distances`.
  [[nodiscard]] static Workload of_one_rank(const ScheduleSource& source, const Layout& layout,
                                            std::span<const std::uint32_t> route_by_distance,
                                            std::vector<std::uint32_t>& distances);

  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(first_outgoing_.size() - 1);
  }
  /// The messages that a rank sends, and those that it receives, in the order of its program.
  [[nodiscard]] std::span<const Passage> outgoing(std::uint32_t rank) const {
    return {outgoing_.data() + first_outgoing_[rank],
            first_outgoing_[rank + 1] - first_outgoing_[rank]};
  }
  [[nodiscard]] std::span<const Passage> incoming(std::uint32_t rank) const {
    return {incoming_.data() + first_incoming_[rank],
            first_incoming_[rank + 1] - first_incoming_[rank]};
  }
  /// Messages and folds that wait for a fold.
  [[nodiscard]] std::span<const Item> waiters(const Fold& fold) const {
    return {waiters_.data() + fold.first_waiter, fold.waiters};
  }

  LargeVector<Message> messages;
  LargeVector<Fold> folds;

 private:
  class Assembly;

  Workload() = default;

  std::vector<std::size_t> first_outgoing_{0};
  LargeVector<Passage> outgoing_;
  std::vector<std::size_t> first_incoming_{0};
  LargeVector<Passage> incoming_;
  LargeVector<Item> waiters_;
};

}  // namespace tutti
