#pragma once

#include <cstdint>
#include <vector>

#include <tutti/schedule/program.hpp>

namespace tutti::synthesis {

/// One chunk moves from one rank to another.
struct Transfer {
  std::uint32_t round = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t chunk = 0;
};

/// Transfers that bring every chunk from its origin to all ranks.
struct Distribution {
  std::uint32_t rounds = 0;
  std::uint32_t chunks = 0;  ///< Per origin.
  std::vector<Transfer> transfers{};
  double seconds = 0;  ///< Predicted for the size that was asked for.
};

/// The programs of all ranks. A rank that sends a chunk to several others in one round does so in
/// one step, so that the dual folds their contributions in one step.
[[nodiscard]] std::vector<Program> programs_of(const Distribution& distribution,
                                               std::uint32_t ranks);

}  // namespace tutti::synthesis
