#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/plan.hpp"
#include "cli/console/arguments.hpp"
#include "cli/versus/report.hpp"

namespace tutti::cli {

/// What the user has asked `tutti bench --vs` for.
struct VersusWishes {
  std::vector<std::string> libraries{};  ///< "openmpi", "gloo:ring"
  std::size_t rounds = 3;
  double patience = 20;  ///< Seconds that a turn may take.
  std::string folder{};  ///< Of the peers' programs; empty: where they are built.
};

void add_versus_options(Command command, VersusWishes& wishes);

/// Measures tutti and the others in turns, and prints the table as it grows: each is started once
/// and sleeps until it is its turn, so that whatever else happens on the machine happens to all
/// alike. A program that fails is named, and the others go on.
///
/// Throws unsupported if nobody is left to compare with.
[[nodiscard]] VersusReport run_versus(const VersusWishes& wishes, const BenchPlan& plan,
                                      std::uint32_t ranks, bool tcp);

/// What cannot be compared, because the others do not have it. Throws unsupported.
void require_comparable(const BenchPlan& plan);

}  // namespace tutti::cli
