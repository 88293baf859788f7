#include "transport/memory/spread.hpp"

#include <sched.h>

namespace tutti {
namespace {

/// Least time between moves: the cores that other ranks published may be out of date.
constexpr std::chrono::milliseconds between_moves{5};

}  // namespace

void Spread::show() {
  const std::int32_t core = sched_getcpu();
  if (core == core_) return;
  core_ = core;
  // Zero means unknown.
  header_.bell(self_).core.store(core + 1, std::memory_order_relaxed);
}

bool Spread::crowded() {
  show();
  std::uint32_t here = 0;
  bool is_last = true;
  for (std::uint32_t rank = 0; rank < header_.ranks(); ++rank) {
    if (header_.bell(rank).core.load(std::memory_order_relaxed) != core_ + 1) continue;
    ++here;
    if (rank > self_) is_last = false;
  }
  if (here > 1 && is_last) move_to_emptier_core(here);
  return here > 1;
}

void Spread::move_to_emptier_core(std::uint32_t ranks_here) {
  const Clock::time_point now = Clock::now();
  if (now < next_move_) return;
  next_move_ = now + between_moves;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || core == core_) continue;
    std::uint32_t there = 0;
    for (std::uint32_t rank = 0; rank < header_.ranks(); ++rank) {
      if (header_.bell(rank).core.load(std::memory_order_relaxed) == core + 1) ++there;
    }
    if (there + 2 > ranks_here) continue;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    sched_setaffinity(0, sizeof only, &only);
    sched_setaffinity(0, sizeof allowed, &allowed);
    show();
    return;
  }
}

}  // namespace tutti
