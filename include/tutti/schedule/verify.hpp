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

/// A defect of a schedule.
struct Violation {
  enum class Kind : std::uint8_t {
    malformed,       ///< An invalid step: an index out of range, a rank that sends to itself.
    unmatched,       ///< A send without its receive, or a receive without its send.
    chunk_mismatch,  ///< A message is sent as one chunk and received as another.
    round_mismatch,  ///< The two ends of a message are in different rounds.
    race,            ///< Steps of one round touch the same bytes and at least one writes.
    deadlock,        ///< A cycle of steps that wait for each other.
    unwritten,       ///< A step reads bytes that were never written.
    wrong_output,    ///< An output chunk lacks contributions, repeats them or has wrong ones.
    disagreement,    ///< Ranks add the same sum in different orders: their bits may differ.
  };

  Kind kind = Kind::malformed;
  Rank rank{};
  std::optional<std::uint32_t> round{};
  std::optional<std::size_t> step{};  ///< Index in the rank's program.
  std::optional<Chunk> chunk{};
  std::string message{};  ///< All of the above as text.
};

[[nodiscard]] TUTTI_API std::string_view name(Violation::Kind kind);

/// The result of verify().
struct Verification {
  /// The first violations only: a schedule with one fault often has thousands.
  std::vector<Violation> violations;
  std::uint64_t violation_count = 0;
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  /// True if the schedule reduces and every output is one fold of all contributions, from rank 0
  /// up. Then no intermediate step rounds, and the bits do not depend on how the data is divided
  /// into chunks, as Reproducible::order requires.
  bool folds_in_rank_order = false;

  [[nodiscard]] bool ok() const { return violation_count == 0; }
};

/// Proves that a schedule fulfils its contract, by running it on symbols. It proves that
/// - every output chunk of every rank holds exactly the contributions that the collective requires,
///   each once;
/// - ranks that compute the same sum add in the same order;
/// - nothing is read before it is written;
/// - steps of one round touch no common bytes unless all of them read;
/// - every send meets a receive of the same chunks in the same round;
/// - no order of execution deadlocks, even if a send waits for its receive.
///
/// All of this holds for the buffers that place() assigns, in place or out of place as `aliasing`
/// says.
///
/// The checks build on each other: if sends and receives do not match, nothing is run.
[[nodiscard]] TUTTI_API Verification verify(const Schedule& schedule, Aliasing aliasing);

/// Verifies both out of place and in place.
[[nodiscard]] TUTTI_API Verification verify(const Schedule& schedule);

}  // namespace tutti
