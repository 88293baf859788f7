#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace tutti::test {

/// What a process holds of its system.
struct Footprint {
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t resident_kib = 0;

  [[nodiscard]] static Footprint own();
  /// What has grown since `before`, by more than the memory that allocators keep; empty if nothing.
  [[nodiscard]] std::string growth_since(const Footprint& before) const;
};

/// Names in the places where processes leave things behind.
[[nodiscard]] std::set<std::string> left_behind();

}  // namespace tutti::test
