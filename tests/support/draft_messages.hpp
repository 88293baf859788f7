#pragma once

#include <compare>
#include <cstddef>
#include <set>
#include <vector>

#include "support/draft.hpp"

namespace tutti::test {

/// A step of a draft, by its place.
struct At {
  std::size_t rank;
  std::size_t step;

  friend auto operator<=>(const At&, const At&) = default;
};

/// The places of all steps.
[[nodiscard]] std::vector<At> places(const Draft& draft);

/// Both ends of a message: the steps of sender and receiver, and the index of the peer in each.
struct DraftMessage {
  At from;
  std::size_t to_index;
  At to;
  std::size_t from_index;
};

/// Pairs the k-th send from a to b with the k-th receive on b from a.
[[nodiscard]] std::vector<DraftMessage> messages(const Draft& draft);

/// The steps that move the same chunks as the step at `start`, connected by messages.
[[nodiscard]] std::set<At> joined(const Draft& draft, const At& start);

}  // namespace tutti::test
