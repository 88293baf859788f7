#pragma once

#include <tutti/error.hpp>

#include "transport/port.hpp"

namespace tutti {

/// The port of a communicator of one rank, which has no peers.
class LonePort : public Port {
 public:
  void begin(std::uint32_t /*sent*/, std::uint32_t /*received*/) override {}
  [[nodiscard]] std::span<const std::byte> arrived(Rank /*peer*/) override { return {}; }
  void consume(Rank /*peer*/, std::size_t /*bytes*/) override {}
  [[nodiscard]] std::size_t send(std::span<const Rank> /*peers*/,
                                 std::span<const std::byte> /*data*/) override {
    throw Error(ErrorCode::internal, "send on a communicator of one rank");
  }
  [[nodiscard]] bool is_reached(Rank /*peer*/) override { return false; }
  [[nodiscard]] std::uint32_t lane(Rank /*peer*/) const override { return 0; }
  [[nodiscard]] std::uint64_t released(Rank /*peer*/) override { return 0; }
  [[nodiscard]] std::uint64_t sent(Rank /*peer*/) const override { return 0; }
  void interrupt() override {}
  [[nodiscard]] bool stay_awake(std::uint32_t /*idle*/) override { return true; }
  void lie_down(WokenBy /*by*/) override {}
  void sleep(Clock::time_point /*deadline*/) override {}
};

}  // namespace tutti
