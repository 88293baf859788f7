#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// A call that a rank made.
struct RankCall {
  Rank rank = 0;
  std::string words{};  ///< "call 3, allreduce of 4 f32 by sum".

  friend bool operator==(const RankCall&, const RankCall&) = default;
};

/// Why a communicator failed. The same on all surviving ranks.
struct Verdict {
  ErrorCode code = ErrorCode::internal;
  /// The ranks that caused it, if known: ranks that are lost, late, or made a different call.
  std::vector<std::uint32_t> ranks{};
  std::string words{};
  /// For a mismatch: calls that differ, with the first rank that made each, in order of rank.
  std::vector<RankCall> calls{};

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

}  // namespace tutti
