#pragma once

#include <functional>
#include <string>

#include <tutti/export.hpp>
#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// A schedule whose programs are made when asked for, so that they need never all be there at once.
struct ScheduleSource {
  std::string name;
  Contract contract;
  /// The program of a rank: the same whenever it is asked for, also by several threads at once.
  std::function<Program(Rank)> program;
  /// Whether one rule, such as an algorithm's, makes the programs of all ranks. Then what some
  /// ranks have in common may be taken for what all have.
  bool one_rule = false;
};

/// A schedule that is there. Requires: it outlives the source.
[[nodiscard]] TUTTI_API ScheduleSource source_of(const Schedule& schedule);

}  // namespace tutti
