#pragma once

#include <array>
#include <cstdint>

#include <tutti/rank.hpp>
#include <tutti/shape.hpp>

namespace tutti {

/// The values of an algorithm's parameters, in the order of its row in the table; 0 where it has
/// none.
using ParameterValues = std::array<std::uint32_t, 2>;

/// The input of an algorithm. Together with the collective, which the algorithm implies, it
/// contains everything that a schedule may depend on.
struct Problem {
  std::uint32_t ranks = 1;
  Rank root{};    ///< Used by broadcast, reduce, scatter and gather.
  Shape shape{};  ///< Used by the hierarchical algorithms.
  /// Set by Algorithm::completed(), which all members of Algorithm call themselves.
  ParameterValues values{};

  friend bool operator==(const Problem&, const Problem&) = default;
};

}  // namespace tutti
