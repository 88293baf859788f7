#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::measure {

/// The best rates and latencies of this machine, measured with threads of one process and without
/// collectives.
struct Machine {
  /// Bytes of the result per second, on all cores together, of one f32 operand per rank.
  struct Sum {
    double once = 0;        ///< The result is written to one buffer.
    double everywhere = 0;  ///< The result is written to the outputs of all ranks.
  };
  /// Rates with buffers of this size, on all cores together, in bytes per second.
  struct Memory {
    std::uint64_t bytes = 0;
    double copy = 0;
    Sum out_of_place{};
    Sum in_place{};
  };
  /// TCP over the loopback interface.
  struct Loopback {
    double rate = 0;     ///< Bytes per second, both ways and all cores together.
    double latency = 0;  ///< Seconds, one way.
  };

  std::uint32_t cores = 1;
  std::vector<Memory> memory{};  ///< In order of size; at least one.
  double flag = 0;               ///< Seconds from a store on one core to its load on another.
  double note = 0;               ///< Seconds per cache line in a stream of them from core to core.
  std::optional<Loopback> loopback{};

  /// The rates of the largest measured size that is not above `bytes`: more data is not faster.
  [[nodiscard]] const Memory& memory_at(std::uint64_t bytes) const;
};

/// Measures with the buffers of this many ranks, of up to `most_bytes` each. Takes a fraction of a
/// second.
[[nodiscard]] Machine measure_machine(std::uint32_t ranks, std::uint64_t most_bytes, bool loopback);

}  // namespace tutti::measure
