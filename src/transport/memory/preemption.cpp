#include "transport/memory/preemption.hpp"

#include <sys/resource.h>

#include <chrono>

#include "core/clock.hpp"

namespace tutti {
namespace {

/// A few time slices: two threads that share a core take it from each other once per slice.
constexpr std::chrono::milliseconds lately{20};

struct Preemptions {
  long count = 0;
  Clock::time_point last{};
};

}  // namespace

bool was_preempted_lately() {
  thread_local Preemptions seen;
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  const Clock::time_point now = Clock::now();
  if (usage.ru_nivcsw != seen.count) seen = {.count = usage.ru_nivcsw, .last = now};
  return now - seen.last < lately;
}

}  // namespace tutti
