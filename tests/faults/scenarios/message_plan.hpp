#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/random.hpp"

namespace tutti::test {

/// A message of the plan. Its contents follow from the other members.
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

/// How a rank receives the messages of a round.
enum class Taking {
  exact,       ///< A receive_async() for each.
  group,       ///< All in one start().
  blocking,    ///< All in one run().
  any_rank,    ///< From any rank.
  any_tag,     ///< With any tag.
  anything,    ///< Both.
  probing,     ///< probe(), then receive().
  in_threads,  ///< A thread for each stream, which calls receive().
};
/// How a rank sends them.
enum class Sending { single, group, in_threads };

/// Messages that overlap, and the collective at their end.
struct PlannedRound {
  enum class Closing { none, barrier, all_reduce, all_to_all, asynchronous };

  std::vector<PlannedMessage> messages{};
  Closing closing = Closing::none;
  /// No rank begins the next round before all have done this one. Only such rounds have receives
  /// with any tag, which could otherwise take messages of the next round.
  bool is_fenced = false;
  std::vector<Taking> taking{};    ///< By rank.
  std::vector<Sending> sending{};  ///< By rank.
  std::vector<bool> carries{};  ///< By rank: whether a later round waits for what this one began.

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
