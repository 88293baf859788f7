#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/chunk.hpp>
#include <tutti/schedule/placement.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// Something that is wrong with a schedule.
struct Violation {
  enum class Kind : std::uint8_t {
    malformed,  ///< A step that means nothing: an index out of range, a rank that sends to itself.
    unmatched,  ///< A send without its receive or a receive without its send.
    chunk_mismatch,  ///< What is sent is not what is received: chunks would be renamed.
    round_mismatch,  ///< The two ends of a message are in different rounds.
    race,            ///< Steps of one round touch the same bytes and at least one writes.
    deadlock,        ///< Steps that wait for each other in a circle.
    unwritten,       ///< Bytes are read that were never written.
    wrong_output,    ///< An output chunk lacks, repeats or mixes contributions.
    disagreement,    ///< Ranks end with sums added in different orders: their bits may differ.
  };

  Kind kind = Kind::malformed;
  Rank rank{};
  std::optional<std::uint32_t> round{};
  std::optional<std::size_t> step{};  ///< Index in the rank's program.
  std::optional<Chunk> chunk{};
  std::string message{};  ///< All of the above in words.
};

[[nodiscard]] TUTTI_API std::string_view name(Violation::Kind kind);

/// What verify() found.
struct Verification {
  /// The first of them; a schedule with one fault often has thousands.
  std::vector<Violation> violations;
  std::uint64_t violation_count = 0;
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  /// Whether it reduces, and every output is one fold of all ranks' contributions, from rank 0 up.
  /// Then no step on the way rounds, and the bits do not depend on how the data is cut into chunks:
  /// what Reproducible::order demands.
  bool folds_in_rank_order = false;

  [[nodiscard]] bool ok() const { return violation_count == 0; }
};

/// Proves that a schedule keeps its contract, by running it on symbols.
///
/// Proved are: every output chunk of every rank holds exactly the contributions that the collective
/// demands, each once; ranks that compute the same sum add in the same order; nothing is read
/// before it is written; steps of one round touch no common bytes unless all read; every send meets
/// a receive of the same chunks in the same round; and no order of execution deadlocks, even if a
/// send waits for its receive. All of it for the places that place() gives the chunks, in place or
/// not.
///
/// The checks build on each other: where the steps do not even pair up, nothing is run.
[[nodiscard]] TUTTI_API Verification verify(const Schedule& schedule, Aliasing aliasing);

/// Both out of place and in place.
[[nodiscard]] TUTTI_API Verification verify(const Schedule& schedule);

}  // namespace tutti
