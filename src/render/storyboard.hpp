#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/schedule/schedule.hpp>

namespace tutti::render {

/// What a rank holds of a chunk at some time.
struct Holding {
  std::uint32_t ranks = 0;  ///< Bit r: the contribution of rank r is included. 0: nothing is held.
  std::uint32_t fresh = 0;  ///< The contributions that arrived in the last round.
  bool complete = false;    ///< True if it is all that the contract requires of this chunk here.

  friend bool operator==(const Holding&, const Holding&) = default;
};

/// One arrow: the data sent from one rank to another in one step.
struct Message {
  Rank from;
  Rank to;
  std::vector<ChunkRange> chunks{};
  bool adds = false;  ///< True if it is reduced into the chunk, false if it replaces the chunk.
};

/// A schedule as a series of pictures: what every rank holds at the start and after each round, and
/// the messages of each round.
struct Storyboard {
  Contract contract;
  /// holdings[k][rank][chunk] is the state after k rounds.
  std::vector<std::vector<std::vector<Holding>>> holdings;
  /// messages[k] are the messages of round k, counted from 0, sorted by sender.
  std::vector<std::vector<Message>> messages;

  [[nodiscard]] std::uint32_t rounds() const { return static_cast<std::uint32_t>(messages.size()); }
  /// True if the rank holds the chunk at any time.
  [[nodiscard]] bool ever_held(Rank rank, Chunk chunk) const;
};

/// Drawings of more ranks, or of more chunks per rank, are unreadable.
inline constexpr std::uint32_t most_drawn_ranks = 16;
inline constexpr std::uint64_t most_drawn_chunks = 64;

/// Throws unsupported if a schedule of this contract is too large to draw. Lets a caller check
/// before it builds the schedule.
void require_drawable(const std::string& name, const Contract& contract);

/// Runs the schedule symbolically and records the states. Throws unsupported if it is too large to
/// draw, and invalid_argument with the first violation if it is wrong.
[[nodiscard]] Storyboard storyboard(const Schedule& schedule);

/// The letter of a rank's contributions: "a" for rank 0.
[[nodiscard]] std::string letter(Rank rank);

/// "chunk 3", "chunks 0–3, 8".
[[nodiscard]] std::string in_words(const std::vector<ChunkRange>& chunks);

}  // namespace tutti::render
