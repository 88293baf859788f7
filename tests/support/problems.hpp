#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/layout.hpp>

#include "support/random.hpp"

namespace tutti {

/// How GoogleTest prints a problem and an algorithm.
void PrintTo(const Problem& problem, std::ostream* out);
void PrintTo(const Algorithm* algorithm, std::ostream* out);

}  // namespace tutti

namespace tutti::test {

/// "p=6 root=2 shape=2x3".
[[nodiscard]] std::string words(const Problem& problem);

/// The table as test parameters, and its names as parts of test names: "allreduce_ring".
[[nodiscard]] std::vector<const Algorithm*> every_algorithm();
[[nodiscard]] std::string test_name(const Algorithm& algorithm);

/// Every shape with this many dimensions for `ranks` ranks, including dimensions of 1.
[[nodiscard]] std::vector<Shape> shapes(std::uint32_t ranks, std::uint32_t dimensions);

/// Every distinct problem with this many ranks for the algorithm: each root, or each shape with a
/// few roots.
[[nodiscard]] std::vector<Problem> problems(const Algorithm& algorithm, std::uint32_t ranks);

/// A random one, with 1 … most_ranks ranks.
[[nodiscard]] Problem random_problem(const Algorithm& algorithm, std::uint32_t most_ranks,
                                     Random& random);

/// A random layout: equal, balanced or by counts, sometimes with empty chunks.
[[nodiscard]] Layout random_layout(std::uint64_t chunks, Random& random);

/// The schedule of golden files and examples: 5 ranks, or 2x3 if a shape is needed.
[[nodiscard]] Problem small_problem(const Algorithm& algorithm);

}  // namespace tutti::test
