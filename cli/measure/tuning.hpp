#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/schedule/proved_schedule.hpp>

#include "cli/measure/progress.hpp"
#include "select/profile.hpp"

namespace tutti::measure {

/// A schedule, and the name that a profile has for it: "file:PATH".
struct NamedSchedule {
  std::string name{};
  ProvedSchedule schedule;
};

/// What to measure, and in how much time.
struct TuningTask {
  Reach reach{};
  std::uint32_t cores = 1;
  double seconds = 8;
  std::uint64_t most_bytes = std::uint64_t{16} << 20;
  /// Schedules to measure beside the algorithms. Those for another number of ranks are skipped.
  std::vector<NamedSchedule> schedules{};
  /// Measure only the best methods of the present profile again.
  bool refine = false;
};

/// The seconds of a call whose messages have this size, if data is copied, and if it is read in
/// place or copied once by the kernel.
struct Protocols {
  std::size_t message = 0;
  double copied = 0;
  double direct = 0;
};

/// The message size from which data is best not copied: the one with the least loss over all sizes,
/// as a single measurement may be wrong. `never` if copying is never slower.
[[nodiscard]] std::size_t best_direct_from(std::span<const Protocols> found,
                                           std::size_t never = std::size_t{1} << 20);

/// Measures ranks that reach each other in this way, together with the other ranks: links, slices,
/// and every algorithm over sizes, less carefully if it cannot win. Does not fit the models.
[[nodiscard]] Profile tune(Communicator& communicator, const TuningTask& task,
                           const Progress& progress = {});

}  // namespace tutti::measure
