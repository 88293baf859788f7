#pragma once

#include <cstdint>

#include <tutti/collective.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// The properties of a call on which the choice of an algorithm depends: only those that are the
/// same on all ranks.
struct Question {
  Collective collective{};
  std::uint64_t bytes = 0;  ///< Size of the larger buffer.
  Rank root{};
  bool counted = false;   ///< Blocks have different lengths.
  bool one_fold = false;  ///< All contributions must be reduced in one fold, in order of rank.
};

}  // namespace tutti
