#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/bench/outputs.hpp"
#include "cli/bench/plan.hpp"
#include "cli/console/arguments.hpp"

/// `tutti bench --vs`. The command knows its options. The comparison itself is a program of its
/// own (bench/versus), which understands the same command line.
namespace tutti::cli {

/// What `tutti bench --vs` compares, as the command line asks for it.
struct VersusRequest {
  std::vector<std::string> peers{};  ///< Libraries or settings of them; empty: no comparison.
  std::size_t rounds = 3;
  double patience = 20;   ///< Seconds that a turn may take.
  bool in_place = false;  ///< Compare calls in place only.
  std::string folder{};   ///< Of the peers' programs; empty: where they are built.

  /// Adds the options. This must outlive the command line.
  void add(Command command);
};

struct Comparison {
  VersusRequest request{};
  BenchPlan plan{};
  std::uint32_t ranks = 0;
  bool tcp = false;
  BenchOutputs outputs{};
};

/// Compares and returns the exit code.
using Compare = std::function<int(const Comparison& comparison)>;

/// Becomes the program that compares, with the words of the command line. Throws unsupported if it
/// is not there: it is built with the benchmarks and not installed.
[[noreturn]] void become_comparison(std::vector<std::string> words);

}  // namespace tutti::cli
