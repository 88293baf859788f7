#pragma once

#include <cstdint>
#include <optional>

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
  /// There is a verdict: no call may begin. Returns the number of the last call; nothing if that
  /// call is still running, which then tells by itself whether it has completed.
  [[nodiscard]] virtual std::optional<std::uint64_t> stop() = 0;
  /// Something has changed that a waiting call may want to know: see GroupState::prospects().
  virtual void wake() = 0;
};

}  // namespace tutti
