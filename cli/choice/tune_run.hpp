#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>

#include "select/profile.hpp"

namespace tutti::cli {

/// What is to be measured, and in how much time.
struct TuneWishes {
  Reach reach{};
  std::uint32_t cores = 1;
  double seconds = 8;
  std::uint64_t most_bytes = std::uint64_t{16} << 20;
  /// Schedules to be measured beside the algorithms, as "file:PATH". Those that are for another
  /// number of ranks are left out.
  std::vector<std::string> schedules{};
  /// The best of what the profile has are measured once more; all else is as it says.
  bool refine = false;
};

/// Measures how ranks that reach each other in this way do, together with the other ranks: links,
/// slices, and every algorithm over sizes, those that cannot win less carefully. Its models are not
/// yet fitted.
[[nodiscard]] Profile tune(Communicator& communicator, const TuneWishes& wishes);

}  // namespace tutti::cli
