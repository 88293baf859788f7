#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::measure {

/// The best rates and latencies of this machine, measured with threads of one process and without
/// collectives.
struct Machine {
  /// Rates with buffers of this size, on all cores together, in bytes per second.
  struct Memory {
    std::uint64_t bytes = 0;
    double copy = 0;
    double sum = 0;  ///< Of one f32 operand per rank, counted in bytes of the result.
  };
  /// TCP over the loopback interface.
  struct Loopback {
    double rate = 0;     ///< Bytes per second, both ways and all cores together.
    double latency = 0;  ///< Seconds, one way.
  };

  std::uint32_t cores = 1;
  std::vector<Memory> memory{};  ///< In order of size; at least one.
  double flag = 0;               ///< Seconds from a store on one core to its load on another.
  std::optional<Loopback> loopback{};

  /// The rates of the measured size that is nearest to `bytes`.
  [[nodiscard]] const Memory& memory_at(std::uint64_t bytes) const;
};

/// Measures with the buffers of this many ranks, of up to `most_bytes` each. Takes a fraction of a
/// second.
[[nodiscard]] Machine measure_machine(std::uint32_t ranks, std::uint64_t most_bytes, bool loopback);

}  // namespace tutti::measure
