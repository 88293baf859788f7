#pragma once

#include <cstdint>

#include <tutti/rank.hpp>
#include <tutti/shape.hpp>

namespace tutti {

/// The input of an algorithm. Together with the collective, which the algorithm implies, it
/// contains everything that a schedule may depend on.
struct Problem {
  std::uint32_t ranks = 1;
  Rank root{};    ///< Used by broadcast, reduce, scatter and gather.
  Shape shape{};  ///< Used by the hierarchical algorithms.

  friend bool operator==(const Problem&, const Problem&) = default;
};

}  // namespace tutti
