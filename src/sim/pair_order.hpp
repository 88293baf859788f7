#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload.hpp"

namespace tutti {

/// Keeps the messages from one rank to another in order: one flows when the one before it has
/// arrived, as on one connection.
class PairOrder {
 public:
  explicit PairOrder(const Workload& workload);

  /// True if the message may flow. If not, `slot` is kept until it may.
  bool may_flow(std::uint32_t message, std::uint32_t slot);
  /// The slot of the message that may flow now that this one has arrived, if it waits.
  [[nodiscard]] std::optional<std::uint32_t> arrived(std::uint32_t message);

 private:
  static constexpr std::uint32_t none = Workload::none;

  std::vector<std::uint32_t> before_;   // The message before each one; none if it has arrived.
  std::vector<std::uint32_t> after_;    // The message after each one.
  std::vector<std::uint32_t> waiting_;  // The slot of each message that waits to flow.
};

}  // namespace tutti
