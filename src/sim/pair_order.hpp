#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/workload.hpp"

namespace tutti {

/// Keeps the messages from one rank to another in the order of the program, as on one connection:
/// one departs when the one before it has departed, and flows when that has arrived.
class PairOrder {
 public:
  /// `receivers`: the actual receiver of each message, if some ranks stand for all; else empty.
  PairOrder(const Workload& workload, std::span<const std::uint32_t> receivers);

  /// False if no rank sends several messages to the same rank.
  [[nodiscard]] bool orders_any() const { return orders_any_; }

  /// True if the message, whose data is ready, may depart. If not, departed() returns it later.
  [[nodiscard]] bool may_depart(std::uint32_t message);
  /// The message that may depart now that this one has, if its data is ready.
  [[nodiscard]] std::optional<std::uint32_t> departed(std::uint32_t message);

  /// True if the message may flow. If not, `slot` is kept until it may.
  [[nodiscard]] bool may_flow(std::uint32_t message, std::uint32_t slot);
  /// The slot of the message that may flow now that this one has arrived, if it waits.
  [[nodiscard]] std::optional<std::uint32_t> arrived(std::uint32_t message);

 private:
  static constexpr std::uint32_t none = Workload::none;

  /// What a message waits for, and which message waits for it.
  struct Place {
    std::uint32_t before = none;   // The message before it; none if that has arrived.
    std::uint32_t after = none;    // The message after it.
    std::uint32_t waiting = none;  // Its slot, if it has departed and waits to flow.
    bool before_departed = true;
    bool is_ready = false;  // Its data is there.
  };

  std::vector<Place> places_;  // By message.
  bool orders_any_ = false;
};

}  // namespace tutti
