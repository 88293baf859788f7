#pragma once

#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/program.hpp>

/// The part of one rank in each barrier algorithm: see the file of the same name.
namespace tutti::barrier {

[[nodiscard]] Program dissemination(const Problem& problem, Rank self);
[[nodiscard]] Program binomial(const Problem& problem, Rank self);

}  // namespace tutti::barrier
