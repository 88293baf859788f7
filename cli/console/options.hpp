#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/price.hpp>

#include "cli/console/arguments.hpp"
#include "cli/console/text.hpp"

/// What several subcommands ask for.
namespace tutti::cli {

/// Numbers and ranges joined by commas: "1-33,64" → 1, 2, …, 33, 64. Throws invalid_argument.
[[nodiscard]] std::vector<std::uint32_t> parse_ranges(const std::string& text);

/// -p, --root, --shape.
struct ProblemOptions {
  std::uint32_t ranks = 0;
  std::uint32_t root = 0;
  std::string shape;

  void add(Command command);
  /// The problem for one algorithm. One that needs a shape and is given none gets the squarest.
  [[nodiscard]] Problem problem(const Algorithm& algorithm) const;
  /// The ranks asked for, or those that fill the shape. Throws invalid_argument if neither is
  /// given.
  [[nodiscard]] std::uint32_t rank_count() const;
};

/// --alpha, --bandwidth, --gamma, and the same for the inside of a node.
struct ModelOptions {
  std::string alpha = "1us";
  std::string bandwidth = "100GB/s";
  std::string gamma = "0";
  std::uint32_t ranks_per_node = 1;
  std::string node_alpha = "0";
  std::string node_bandwidth = "1000GB/s";

  void add(Command command);
  [[nodiscard]] CostModel model() const;
  /// "α = 1us, 100GB/s, γ = 0"
  [[nodiscard]] std::string describe() const;
};

/// --color.
void add_colour(Command command, Colour& colour);

/// The algorithm by name; a collective's name gets an error that lists its algorithms.
[[nodiscard]] const Algorithm& algorithm_named(const std::string& name);

/// The algorithms of a collective, or the one of that name.
[[nodiscard]] std::vector<const Algorithm*> algorithms_named(const std::string& name);

}  // namespace tutti::cli
