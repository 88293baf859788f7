#pragma once

#include <algorithm>
#include <cstdint>

#include <tutti/schedule/algebra.hpp>
#include <tutti/schedule/problem.hpp>

namespace tutti {

/// The value of the parameter `segments`; 1 if the problem has no values.
[[nodiscard]] inline std::uint32_t segments_of(const Problem& problem) {
  return std::max(problem.values[0], 1U);
}

}  // namespace tutti
