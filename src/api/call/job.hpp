#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace tutti {

/// A function to call later, stored in place: unlike std::function it never allocates.
class Job {
 public:
  template <class F>
  requires(!std::is_same_v<F, Job>) explicit Job(F f)
      : run_([](void* function) { (*static_cast<F*>(function))(); }),
        destroy_([](void* function) { static_cast<F*>(function)->~F(); }) {
    static_assert(sizeof(F) <= room,
                  "the capture is larger than that of any call so far: increase room");
    static_assert(alignof(F) <= alignof(std::max_align_t));
    ::new (place_.data()) F(std::move(f));
  }
  ~Job() { forget(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Requires: forget() was not called.
  void operator()() { run_(place_.data()); }
  /// Destroys the function and its captures.
  void forget() {
    if (destroy_ != nullptr) std::exchange(destroy_, nullptr)(place_.data());
  }

 private:
  static constexpr std::size_t room = 320;

  void (*run_)(void*);
  void (*destroy_)(void*);
  alignas(std::max_align_t) std::array<std::byte, room> place_;
};

}  // namespace tutti
