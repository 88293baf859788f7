#include "transport/memory/own_threads.hpp"

#include <sys/resource.h>

#include <chrono>
#include <ctime>

#include "core/clock.hpp"

namespace tutti {
namespace {

/// A few time slices: two threads that share a core take it from each other once per slice.
constexpr std::chrono::milliseconds lately{20};
/// Threads that sleep most of the time use less in a time slice.
constexpr std::chrono::microseconds noteworthy{500};

std::chrono::nanoseconds read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// The time that the other threads of this process have run so far.
std::chrono::nanoseconds cpu_time_of_others() {
  return read(CLOCK_PROCESS_CPUTIME_ID) - read(CLOCK_THREAD_CPUTIME_ID);
}

struct Looks {
  long preemptions = 0;
  std::chrono::nanoseconds used_by_others = cpu_time_of_others();
  Clock::time_point last{};  // When one of them last wanted the core.
};

}  // namespace

bool own_threads_want_core() {
  thread_local Looks seen;
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  const Clock::time_point now = Clock::now();
  if (usage.ru_nivcsw != seen.preemptions) {
    seen.preemptions = usage.ru_nivcsw;
    const std::chrono::nanoseconds used = cpu_time_of_others();
    if (used - seen.used_by_others > noteworthy) seen.last = now;
    seen.used_by_others = used;
  }
  return now - seen.last < lately;
}

}  // namespace tutti
