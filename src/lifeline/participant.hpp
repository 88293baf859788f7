#pragma once

#include <cstdint>

#include "lifeline/rank_status.hpp"

namespace tutti {

/// A rank, as its council sees it: it can tell what it is doing, and stop. Asked at any moment by
/// another thread, so it must not wait for anything.
class Participant {
 public:
  virtual ~Participant() = default;

  [[nodiscard]] virtual RankStatus status(std::uint64_t about) const = 0;
  /// A verdict is being sought: from now on this rank cannot note that it has done a call with
  /// retry. Returns how many it has done, the same each time.
  virtual std::uint64_t seal() = 0;
  /// There is a verdict: no call may go on, and none may begin.
  virtual void stop() = 0;
};

}  // namespace tutti
