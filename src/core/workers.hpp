#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tutti {

/// Calls task(i) for i = 0 … count−1 on as many threads as the machine has cores. The tasks start
/// in order. The first exception stops the work and is rethrown.
template <class Task>
void in_parallel(std::size_t count, const Task& task) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> threads;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  try {
    for (std::size_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // If no more threads can be started, the existing ones do all the work.
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tutti
