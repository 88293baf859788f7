#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "transport/memory/commons.hpp"

namespace tutti {

/// Keeps an eye on which cores the ranks of a host are on.
///
/// Ranks that wait for each other by spinning or yielding always seem busy, so the system sees no
/// reason to move them, even if they crowd one core while others have none of them. Then one of
/// them moves. Its thread may run wherever it might before; it is only set down elsewhere.
class Spread {
 public:
  explicit Spread(const Commons& commons) : commons_(commons) {}

  /// Which of the ranks this one is.
  void set_self(std::uint32_t self) { self_ = self; }

  /// Tells the others where this rank is.
  void show();
  /// Whether another rank is on the same core. Moves this rank if there is a better place.
  [[nodiscard]] bool crowded();

 private:
  void move_to_emptier_core(std::uint32_t ranks_here);

  Commons commons_;
  std::uint32_t self_ = 0;
  std::int32_t core_ = -1;  // Where this rank was last seen.
  Clock::time_point next_move_{};
};

}  // namespace tutti
