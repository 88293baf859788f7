#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "transport/memory/shared_header.hpp"

namespace tutti {

/// Spreads the ranks of a host over its cores.
///
/// Ranks that spin or yield always look busy, so the scheduler does not move them, even if several
/// share one core while other cores have none. Then one of them moves to an emptier core. Its CPU
/// affinity is the same afterwards.
class Spread {
 public:
  explicit Spread(const SharedHeader& header) : header_(header) {}

  /// Sets this rank's place in the header.
  void set_self(std::uint32_t self) { self_ = self; }

  /// Publishes the core that this rank runs on.
  void show();
  /// True if another rank is on the same core. Moves this rank if there is an emptier core.
  [[nodiscard]] bool crowded();

 private:
  void move_to_emptier_core(std::uint32_t ranks_here);

  SharedHeader header_;
  std::uint32_t self_ = 0;
  std::int32_t core_ = -1;  // The core last published.
  Clock::time_point next_move_{};
};

}  // namespace tutti
