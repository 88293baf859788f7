#pragma once

#include <functional>
#include <string>

#include <tutti/export.hpp>
#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// A schedule whose programs are built on demand, so that they need not all be in memory at once.
struct ScheduleSource {
  std::string name;
  Contract contract;
  /// Builds the program of a rank. Every call returns the same program. Must be thread-safe.
  std::function<Program(Rank)> program;
  /// True if one rule, such as an algorithm, builds the programs of all ranks. Properties that a
  /// sample of ranks share may then be assumed for all ranks.
  bool one_rule = false;
};

/// A source over an existing schedule. Requires: the schedule outlives the source.
[[nodiscard]] TUTTI_API ScheduleSource source_of(const Schedule& schedule);

}  // namespace tutti
