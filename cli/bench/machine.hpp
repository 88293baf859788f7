#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::cli {

/// What this machine does at best, measured with threads of one process and no collective.
struct BenchMachine {
  /// With buffers of so many bytes, on all cores together, in bytes per second.
  struct Memory {
    std::uint64_t bytes = 0;
    double copy = 0;
    double sum = 0;  ///< Of as many f32 operands as there are ranks: bytes of the result.
  };
  /// TCP over the loopback interface.
  struct Loopback {
    double rate = 0;     ///< Bytes per second, both ways and all cores together.
    double latency = 0;  ///< Seconds, one way.
  };

  std::uint32_t cores = 1;
  std::vector<Memory> memory{};  ///< In order of size, at least one.
  double flag = 0;  ///< Seconds from its being set on one core to its being seen on another.
  std::optional<Loopback> loopback{};

  /// The class that buffers of so many bytes belong to.
  [[nodiscard]] const Memory& memory_at(std::uint64_t bytes) const;
};

/// Measures for so many ranks with buffers of up to so many bytes. Takes a fraction of a second.
[[nodiscard]] BenchMachine measure_machine(std::uint32_t ranks, std::uint64_t most_bytes,
                                           bool loopback);

}  // namespace tutti::cli
