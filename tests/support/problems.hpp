#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/layout.hpp>

#include "support/random.hpp"

namespace tutti {

/// How GoogleTest shows a problem and an algorithm.
void PrintTo(const Problem& problem, std::ostream* out);
void PrintTo(const Algorithm* algorithm, std::ostream* out);

}  // namespace tutti

namespace tutti::test {

/// "p=6 root=2 shape=2x3".
[[nodiscard]] std::string words(const Problem& problem);

/// The table, as parameters of tests. Its names as parts of test names: "allreduce_ring".
[[nodiscard]] std::vector<const Algorithm*> every_algorithm();
[[nodiscard]] std::string test_name(const Algorithm& algorithm);

/// Every shape of so many dimensions that `ranks` fill, those with a dimension of 1 included.
[[nodiscard]] std::vector<Shape> shapes(std::uint32_t ranks, std::uint32_t dimensions);

/// Every problem of so many ranks that the algorithm tells apart: each root, each shape.
[[nodiscard]] std::vector<Problem> problems(const Algorithm& algorithm, std::uint32_t ranks);

/// One of them, with 1 … most_ranks ranks.
[[nodiscard]] Problem random_problem(const Algorithm& algorithm, std::uint32_t most_ranks,
                                     Random& random);

/// Equal, balanced or counted, with chunks of no length among them.
[[nodiscard]] Layout random_layout(std::uint64_t chunks, Random& random);

/// The schedule on which a golden file or an example stands: 5 ranks, or 2x3 where a shape is
/// needed.
[[nodiscard]] Problem small_problem(const Algorithm& algorithm);

}  // namespace tutti::test
