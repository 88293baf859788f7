#pragma once

#include <span>
#include <string_view>

#include "support/draft.hpp"
#include "support/random.hpp"

namespace tutti::test {

/// One way to damage a schedule.
struct Damage {
  std::string_view name;
  /// Applies it at a random place. Returns false, and changes nothing, if there is no such place.
  bool (*apply)(Draft& draft, Random& random);
};

/// All kinds of damage: to one step of one rank, to both ends of a message, and to whole rounds.
[[nodiscard]] std::span<const Damage> damages();

}  // namespace tutti::test
