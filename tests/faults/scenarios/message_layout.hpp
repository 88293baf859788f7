#pragma once

#include <optional>
#include <vector>

#include "faults/fault_case.hpp"
#include "faults/scenarios/message_plan.hpp"

namespace tutti::test {

/// One of the communicators of a case.
struct MessageLane {
  std::vector<std::uint32_t> members{};  ///< Ranks of the case, in its order.
  MessagePlan plan{};
  bool must_fail = false;

  /// The faulty rank's rank in this communicator.
  [[nodiscard]] std::optional<std::uint32_t> place_of(std::uint32_t rank) const;
};

/// Derived from a case of messages: the same on all ranks.
struct MessageLayout {
  explicit MessageLayout(const FaultCase& fault_case);

  /// The group, perhaps a duplicate of it, and perhaps its ranks of even and of odd number.
  std::vector<MessageLane> lanes{};
  bool has_duplicate = false;
  bool has_parts = false;
  bool has_threads = false;  ///< One for each communicator.
  std::uint32_t fault_round = 0;
  std::uint32_t fault_lane = 0;  ///< On which it aborts, or sends a message that is too long.
};

}  // namespace tutti::test
