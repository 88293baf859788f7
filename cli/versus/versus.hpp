#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/plan.hpp"
#include "cli/console/arguments.hpp"
#include "cli/versus/report.hpp"

namespace tutti::cli {

/// What `tutti bench --vs` compares, as the command line asks for it.
struct VersusRequest {
  std::vector<PeerWish> peers{};  ///< Empty: no comparison.
  std::size_t rounds = 3;
  double patience = 20;   ///< Seconds that a turn may take.
  bool in_place = false;  ///< Compare calls in place only.
  std::string folder{};   ///< Of the peers' programs; empty: where they are built.
};

/// The options of `tutti bench` that make up a VersusRequest.
class VersusOptions {
 public:
  /// This must outlive the command line.
  void add(Command command);
  /// Throws invalid_argument for an unknown library.
  [[nodiscard]] VersusRequest request() const;

 private:
  VersusRequest parsed_{};  // The values that need no parsing here.
  std::vector<std::string> peers_;
};

/// Measures tutti and the other libraries in turns and prints the table as it grows. Each program
/// is started once and sleeps between its turns, so that disturbances hit all of them alike. A
/// program that fails is reported, and the others go on.
///
/// Throws unsupported if no other library is left.
[[nodiscard]] VersusReport run_versus(const VersusRequest& request, const BenchPlan& plan,
                                      std::uint32_t ranks, bool tcp);

/// Throws unsupported if the other libraries cannot do the plan.
void require_comparable(const BenchPlan& plan);

}  // namespace tutti::cli
