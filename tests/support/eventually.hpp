#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace tutti::test {

/// Waits until something is so, for ten seconds at most. Returns whether it is so.
inline bool eventually(const std::function<bool()>& is_so) {
  for (int look = 0; look < 10000 && !is_so(); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return is_so();
}

}  // namespace tutti::test
