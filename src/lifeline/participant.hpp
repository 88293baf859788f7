#pragma once

#include <cstdint>

#include "lifeline/rank_status.hpp"

namespace tutti {

/// This rank, as the failure agreement of its communicator sees it. All functions are called from
/// another thread at any time, with the lifeline's lock held, so they must not block.
class Participant {
 public:
  virtual ~Participant() = default;

  /// What this rank is doing, and what it knows of call `about` (0: no call in particular).
  [[nodiscard]] virtual RankStatus status(std::uint64_t about) const = 0;
  /// A verdict is being agreed on: from now on this rank cannot note that it has done a call with
  /// retry. Returns how many it has done, the same each time.
  virtual std::uint64_t seal() = 0;
  /// There is a verdict: running calls end, and no call may begin.
  virtual void stop() = 0;
};

}  // namespace tutti
