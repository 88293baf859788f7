#include "core/process_origin.hpp"

#include <pthread.h>

namespace tutti {

constinit std::atomic<std::uint32_t> ProcessOrigin::forks{0};

// Runs before main(), or when the library is loaded, so that every fork is counted.
const bool ProcessOrigin::are_forks_counted =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;

}  // namespace tutti
