#pragma once

#include <vector>

#include "support/damage.hpp"
#include "support/draft_messages.hpp"
#include "support/random.hpp"

/// Building blocks of damages.
namespace tutti::test {

inline DraftStep& step(Draft& draft, const At& at) { return draft.programs[at.rank][at.step]; }

/// The places of all steps that satisfy a predicate.
template <class Predicate>
std::vector<At> places(const Draft& draft, Predicate predicate) {
  std::vector<At> found = places(draft);
  std::erase_if(found, [&](const At& at) { return !predicate(draft.programs[at.rank][at.step]); });
  return found;
}

/// Calls change(step) on a random one of the places, if there is any.
template <class Change>
bool change_one(Draft& draft, Random& random, const std::vector<At>& at, Change change) {
  if (at.empty()) return false;
  change(step(draft, random.pick(at)));
  return true;
}

/// A number below n other than `not_this`, or n itself if there is none.
template <class Number>
Number another(Number n, Number not_this, Random& random) {
  if (n < 2) return n;
  const Number found = random.below(n - 1);
  return found < not_this ? found : found + 1;
}

/// Damages to variants of chunks and to local steps.
[[nodiscard]] std::span<const Damage> variant_damages();

}  // namespace tutti::test
