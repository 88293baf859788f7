#pragma once

#include <array>

namespace tutti::measure {

/// The host and process of a rank.
struct Place {
  std::array<char, 64> host{};
  int pid = 0;
};

[[nodiscard]] Place own_place();

}  // namespace tutti::measure
