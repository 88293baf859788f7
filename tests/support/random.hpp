#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace tutti::test {

/// Random numbers that are the same for the same seed with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::uint64_t bits() { return engine_(); }

  /// 0 … n−1. Requires: n > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  [[nodiscard]] std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(engine_() % n);
  }

  [[nodiscard]] bool one_in(std::uint64_t n) { return below(n) == 0; }

  /// Requires: not empty.
  template <class T>
  [[nodiscard]] T& pick(std::vector<T>& from) {
    return from[below(std::uint64_t{from.size()})];
  }
  template <class T>
  [[nodiscard]] const T& pick(const std::vector<T>& from) {
    return from[below(std::uint64_t{from.size()})];
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(std::uint64_t{i})]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tutti::test
