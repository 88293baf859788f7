#pragma once

#include <cstdint>

#include <tutti/collective.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// What the choice of an algorithm depends on besides who takes part: only what all ranks know.
struct Question {
  Collective collective{};
  std::uint64_t bytes = 0;  ///< Of the larger buffer.
  Rank root{};
  bool counted = false;   ///< Blocks of different lengths.
  bool one_fold = false;  ///< Only by what folds all contributions at once, in order of rank.
};

}  // namespace tutti
