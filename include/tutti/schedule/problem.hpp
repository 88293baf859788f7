#pragma once

#include <cstdint>

#include <tutti/rank.hpp>
#include <tutti/shape.hpp>

namespace tutti {

/// What an algorithm is asked to write a schedule for. Together with the collective, which the
/// algorithm itself implies, it says everything that a schedule may depend on.
struct Problem {
  std::uint32_t ranks = 1;
  Rank root{};    ///< Heeded by broadcast, reduce, scatter and gather.
  Shape shape{};  ///< Heeded by the hierarchical algorithms.

  friend bool operator==(const Problem&, const Problem&) = default;
};

}  // namespace tutti
