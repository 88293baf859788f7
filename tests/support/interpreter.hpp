#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>

#include "support/random.hpp"

/// A second opinion on what a schedule means, from include/tutti/schedule/program.hpp alone: it
/// shares no code with placements or with verify().
namespace tutti::test {

/// The elements of one chunk. Sums of whole numbers are exact, so the order of adding is no matter.
using Value = std::vector<std::int64_t>;

/// What one rank has of each chunk; none where it has no version.
using Holding = std::vector<std::optional<Value>>;

/// What each rank has.
using Holdings = std::vector<Holding>;

/// How a run of a schedule ended.
struct Outcome {
  enum class Fault {
    none,
    nonsense,         ///< A rank, chunk or place in a fold that does not exist.
    stuck,            ///< A receive waits for a message that never comes.
    leftovers,        ///< A message is never received.
    misfit,           ///< A message has not as many chunks or elements as are received.
    read_of_nothing,  ///< A chunk is sent or folded in that the rank does not have.
  };

  Fault fault = Fault::none;
  std::string where;  ///< The rank and step of the fault.
  Holdings holdings;  ///< At the end, or when the fault was met.
};

[[nodiscard]] std::string_view name(Outcome::Fault fault);

/// What each rank brings. Barriers: the bit of the rank, so that they can be told apart however
/// often they are counted. Others: random numbers of 40 bits, as many in a chunk as the layout
/// says.
[[nodiscard]] Holdings random_inputs(const Contract& contract, const Layout& layout,
                                     Random& random);

/// What each rank must end with, from the textbook's definition of the collective: none for chunks
/// that are not in its output.
[[nodiscard]] Holdings reference(const Contract& contract, const Holdings& inputs);

/// How far ahead of a receive that waits a rank goes on.
enum class Pace {
  in_order,  ///< Not at all: each program from top to bottom.
  /// To any step that the data allows: that touches no chunk that a step before it is still to
  /// write or, if it writes, to send, and that does not overtake one between the same two ranks.
  by_dependence,
};

/// Runs the ranks in turn, each as far as it gets, round and round, with a queue of any length
/// between each two ranks. A send takes the version that is present in the order of the program.
[[nodiscard]] Outcome interpret(const Schedule& schedule, const Holdings& inputs,
                                Pace pace = Pace::by_dependence);

/// Where `outcome` is not what it should be, in words; empty if it is.
[[nodiscard]] std::string difference(const Outcome& outcome, const Holdings& wanted);

/// Whether the schedule does on random inputs, one element a chunk, what its contract says: the
/// fault or difference if not, empty if it does.
[[nodiscard]] std::string fault_in_meaning(const Schedule& schedule, std::uint64_t seed,
                                           Pace pace = Pace::by_dependence);

/// Where two ranks end with different bits of a chunk if every order of adding gives other bits, in
/// words; empty if nowhere.
[[nodiscard]] std::string difference_in_bits(const Schedule& schedule, std::uint64_t seed);

}  // namespace tutti::test
