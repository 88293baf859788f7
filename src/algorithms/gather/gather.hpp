#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// Builders of the gather algorithms for one rank. Each is described in the file of its name.
namespace tutti::gather {

[[nodiscard]] Program flat(const Problem& problem, Rank self);
[[nodiscard]] Program binomial(const Problem& problem, Rank self);
[[nodiscard]] Program knomial(const Problem& problem, Rank self);

}  // namespace tutti::gather
