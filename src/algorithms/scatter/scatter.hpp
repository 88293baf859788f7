#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// The part of one rank in each scatter algorithm: see the file of the same name.
namespace tutti::scatter {

[[nodiscard]] Program flat(const Problem& problem, Rank self);
[[nodiscard]] Program binomial(const Problem& problem, Rank self);

}  // namespace tutti::scatter
