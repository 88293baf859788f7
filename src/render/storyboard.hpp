#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/schedule/schedule.hpp>

namespace tutti::render {

/// What a rank holds of a chunk at some moment.
struct Holding {
  std::uint32_t ranks = 0;  ///< Bit r: rank r's contribution is in it. None: nothing is held.
  std::uint32_t fresh = 0;  ///< Those of them that the last round has brought.
  bool complete = false;    ///< All that the contract demands of this chunk on this rank.

  friend bool operator==(const Holding&, const Holding&) = default;
};

/// One arrow: what goes from one rank to another in one step.
struct Message {
  Rank from;
  Rank to;
  std::vector<ChunkRange> chunks{};
  bool adds = false;  ///< Whether it is folded with others, or takes the place of what was there.
};

/// A schedule as a series of pictures: what every rank holds before the first round and after each,
/// and the messages in between.
struct Storyboard {
  Contract contract;
  /// holdings[k][rank][chunk] is what is held after k rounds.
  std::vector<std::vector<std::vector<Holding>>> holdings;
  /// messages[k] are those of round k, counted from 0, in the order of their senders.
  std::vector<std::vector<Message>> messages;

  [[nodiscard]] std::uint32_t rounds() const { return static_cast<std::uint32_t>(messages.size()); }
  /// Whether the rank has the chunk at any time.
  [[nodiscard]] bool ever_held(Rank rank, Chunk chunk) const;
};

/// More ranks than this nobody tells apart in a drawing, nor more chunks on a rank.
inline constexpr std::uint32_t most_drawn_ranks = 16;
inline constexpr std::uint64_t most_drawn_chunks = 64;

/// Throws unsupported if a schedule of this contract is too large to be drawn. Callers that would
/// have to build the schedule first ask before they do.
void require_drawable(const std::string& name, const Contract& contract);

/// Runs the schedule on symbols and writes down what is seen. Throws unsupported if it is too large
/// to be drawn, invalid_argument with the first violation if it is wrong.
[[nodiscard]] Storyboard storyboard(const Schedule& schedule);

/// The letter that stands for a rank's contributions: "a" for rank 0.
[[nodiscard]] std::string letter(Rank rank);

/// "chunk 3", "chunks 0–3, 8".
[[nodiscard]] std::string in_words(const std::vector<ChunkRange>& chunks);

}  // namespace tutti::render
