#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace tutti {

/// A fixed-size set of objects that a signal handler can visit without allocating or locking. An
/// object is not removed while it is visited.
template <class T>
class Registry {
 public:
  static constexpr std::size_t most = 1024;

  /// False if the registry is full.
  [[nodiscard]] bool add(const T& thing) {
    for (Entry& entry : entries_) {
      const T* nothing = nullptr;
      if (entry.thing.compare_exchange_strong(nothing, &thing)) return true;
    }
    return false;
  }

  /// Returns when no thread visits the object any more. A signal handler that interrupted this
  /// thread has finished by then, so it waits only for other threads.
  void remove(const T& thing) {
    for (Entry& entry : entries_) {
      if (entry.thing.load() != &thing) continue;
      // remove() and visit_all() both write first and then read (seq_cst): one sees the other.
      entry.thing.store(nullptr);
      while (entry.visitors.load() > 0) std::this_thread::yield();
      return;
    }
  }

  template <class Visit>
  void visit_all(Visit visit) {
    for (Entry& entry : entries_) {
      entry.visitors.fetch_add(1);
      if (const T* const thing = entry.thing.load()) visit(*thing);
      entry.visitors.fetch_sub(1);
    }
  }

 private:
  struct Entry {
    std::atomic<const T*> thing{nullptr};
    std::atomic<std::uint32_t> visitors{0};
  };
  std::array<Entry, most> entries_{};
};

}  // namespace tutti
