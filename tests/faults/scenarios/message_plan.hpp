#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/random.hpp"

namespace tutti::test {

/// A message that is to be sent and received. Its contents follow from the rest.
struct PlannedMessage {
  std::uint32_t from = 0;  ///< Ranks of the communicator.
  std::uint32_t to = 0;
  std::uint32_t tag = 0;
  std::uint32_t ordinal = 0;  ///< Among the messages from that rank to that rank with that tag.
  std::size_t bytes = 0;

  [[nodiscard]] bool is_of_stream(const PlannedMessage& other) const {
    return from == other.from && to == other.to && tag == other.tag;
  }
};

/// How a rank asks for the messages of a round.
enum class Taking {
  exact,       ///< A receive_async() for each.
  group,       ///< All in one start().
  blocking,    ///< All in one run().
  any_rank,    ///< From whichever rank sends first.
  any_tag,     ///< By whatever tag.
  anything,    ///< Both.
  probing,     ///< It looks first, then receives.
  in_threads,  ///< A thread for each stream, which calls receive().
};
/// How a rank sends them.
enum class Sending { single, group, in_threads };

/// Messages that overlap, and the collective at their end.
struct PlannedRound {
  enum class Closing { none, barrier, all_reduce, all_to_all, asynchronous };

  std::vector<PlannedMessage> messages{};
  Closing closing = Closing::none;
  /// No rank begins the next round before all have done this one: the only ones with receives of
  /// any tag, which might take messages of the next round.
  bool is_fenced = false;
  std::vector<Taking> taking{};    ///< By rank.
  std::vector<Sending> sending{};  ///< By rank.
  std::vector<bool> carries{};     ///< By rank: what was begun is waited for in a later round.

  [[nodiscard]] std::size_t longest() const;
};

/// What the ranks of one communicator send each other: the same on all ranks.
struct MessagePlan {
  struct Size {
    std::uint32_t ranks;
    std::uint32_t rounds;
    bool may_carry;
  };
  [[nodiscard]] static MessagePlan draw(Random& random, const Size& size);

  std::vector<PlannedRound> rounds{};
  std::uint64_t salt = 0;  ///< Keeps the contents of different communicators apart.

  void fill(const PlannedMessage& message, std::span<std::byte> memory) const;
  [[nodiscard]] bool has_contents(const PlannedMessage& message,
                                  std::span<const std::byte> memory) const;
};

}  // namespace tutti::test
