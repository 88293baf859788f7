#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/price.hpp>

#include "cli/console/arguments.hpp"
#include "cli/console/text.hpp"
#include "select/reach.hpp"

/// Options of several subcommands.
namespace tutti::cli {

/// Numbers and ranges joined by commas: "1-33,64" → 1, 2, …, 33, 64. Throws invalid_argument.
[[nodiscard]] std::vector<std::uint32_t> parse_ranges(const std::string& text);

/// -p (also -n), --root, --shape.
struct ProblemOptions {
  std::uint32_t ranks = 0;
  std::uint32_t root = 0;
  std::string shape;

  void add(Command command);
  /// The problem for one algorithm. Without --shape, one that needs a shape gets the squarest.
  [[nodiscard]] Problem problem(const Algorithm& algorithm) const;
  /// The number of ranks, or the product of the shape. Throws invalid_argument if neither is given.
  [[nodiscard]] std::uint32_t rank_count() const;
};

/// --alpha, --bandwidth, --gamma, and the same for links inside a node.
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

/// What --transport says of ranks: "inproc", "shm", "tcp" within a host, or "network"; also the
/// names of Pairs. Throws invalid_argument.
[[nodiscard]] Pairs parse_transport(const std::string& text);

/// --color.
void add_colour(Command command, Colour& colour);

/// Joins words to names: "allreduce ring tree" → allreduce/ring, allreduce/binomial. The name of a
/// collective that no algorithm follows stays. Names of textbooks become those of the table. Throws
/// invalid_argument for a word that names nothing.
[[nodiscard]] std::vector<std::string> joined_names(const std::vector<std::string>& words);

/// The one algorithm that the words name. For the name of a collective alone, throws an error that
/// lists its algorithms.
[[nodiscard]] const Algorithm& algorithm_named(const std::vector<std::string>& words);
[[nodiscard]] const Algorithm& algorithm_named(const std::string& name);

/// The collective of this name; none if it is not the name of one.
[[nodiscard]] std::optional<Collective> find_collective(const std::string& name);

/// The algorithms of the collective of this name, or the algorithm of this name.
[[nodiscard]] std::vector<const Algorithm*> algorithms_named(const std::string& name);

}  // namespace tutti::cli
