#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace tutti {

/// The things of a process that a signal handler must find: it takes neither memory nor a lock to
/// visit them, and none goes away under a visitor.
template <class T>
class Registry {
 public:
  static constexpr std::size_t most = 1024;

  /// False if there is no room.
  [[nodiscard]] bool add(const T& thing) {
    for (Entry& entry : entries_) {
      const T* nothing = nullptr;
      if (entry.thing.compare_exchange_strong(nothing, &thing)) return true;
    }
    return false;
  }

  /// Returns when nobody visits it any more. A visitor that this thread itself was interrupted by
  /// is done by then, so that it waits for other threads only.
  void remove(const T& thing) {
    for (Entry& entry : entries_) {
      if (entry.thing.load() != &thing) continue;
      // Both this and the visitor write first and then look: one of them sees the other.
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
