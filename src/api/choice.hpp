#pragma once

#include <cstdint>

#include <tutti/algorithm.hpp>

namespace tutti {

/// How the ranks of a communicator reach each other.
enum class Reach {
  memory,          ///< All of them share memory, and each can have a core of its own.
  crowded_memory,  ///< All of them share memory, but there are more ranks than cores.
  loopback,        ///< All of them are on one host, but reach each other by its network.
  network,         ///< They are on several hosts.
};

/// What the choice of an algorithm depends on: only what all ranks know.
struct ChoiceQuestion {
  Collective collective;
  std::uint32_t ranks;
  std::uint64_t bytes;  ///< Of the larger buffer.
  Reach reach;
  bool counted;  ///< Blocks of different lengths.
};

/// The algorithm that is fastest, by what was measured.
[[nodiscard]] const Algorithm& choose(const ChoiceQuestion& question);

}  // namespace tutti
