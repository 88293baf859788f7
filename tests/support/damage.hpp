#pragma once

#include <span>
#include <string_view>

#include "support/draft.hpp"
#include "support/random.hpp"

namespace tutti::test {

/// One way to spoil a schedule.
struct Damage {
  std::string_view name;
  /// Does it at a random place. False if the draft has no such place, and then it is as before.
  bool (*apply)(Draft& draft, Random& random);
};

/// All of them: to one step of one rank, to both ends of a message alike, and to whole rounds.
[[nodiscard]] std::span<const Damage> damages();

}  // namespace tutti::test
