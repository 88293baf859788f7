#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace tutti::test {

/// The system resources of a process.
struct Footprint {
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t resident_kib = 0;

  [[nodiscard]] static Footprint own();
  /// The resources that have grown since `before`, by more than allocators cache; empty if none.
  [[nodiscard]] std::string growth_since(const Footprint& before) const;
};

/// Names of files that processes may leave behind.
[[nodiscard]] std::set<std::string> left_behind();

}  // namespace tutti::test
