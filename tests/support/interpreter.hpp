#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>

#include "support/random.hpp"

/// An independent interpreter of schedules, based on include/tutti/schedule/program.hpp alone. It
/// shares no code with placements or with verify().
namespace tutti::test {

/// The elements of one chunk. Sums of integers are exact, so the order does not matter.
using Value = std::vector<std::int64_t>;

/// One rank's value of each chunk; none if it has no version.
using Holding = std::vector<std::optional<Value>>;

/// The values of all ranks.
using Holdings = std::vector<Holding>;

/// How a run of a schedule ended.
struct Outcome {
  enum class Fault {
    none,
    nonsense,         ///< A rank, chunk or fold position does not exist.
    stuck,            ///< A receive waits for a message that never comes.
    leftovers,        ///< A message is never received.
    misfit,           ///< A message has another number of chunks or elements than its receive.
    read_of_nothing,  ///< A step reads a chunk that the rank does not have.
  };

  Fault fault = Fault::none;
  std::string where;  ///< The rank and step of the fault.
  Holdings holdings;  ///< At the end, or at the fault.
};

[[nodiscard]] std::string_view name(Outcome::Fault fault);

/// The inputs of all ranks. For a barrier: the bit of the rank, so that contributions can be told
/// apart even if they are counted twice. Otherwise: random 40-bit numbers, with the lengths of the
/// layout.
[[nodiscard]] Holdings random_inputs(const Contract& contract, const Layout& layout,
                                     Random& random);

/// The expected outputs, from the textbook definition of the collective: none for chunks that are
/// not in a rank's output.
[[nodiscard]] Holdings reference(const Contract& contract, const Holdings& inputs);

/// How far a rank runs ahead of a waiting receive.
enum class Pace {
  in_order,  ///< Not at all: each program runs from top to bottom.
  /// To any step that data dependences allow: it touches no chunk that an earlier step will write
  /// or, if it writes, send, and does not overtake a step between the same two ranks.
  by_dependence,
};

/// Runs the ranks in turn, each as far as possible, with an unbounded queue between each two ranks.
/// A send takes the current version in program order.
[[nodiscard]] Outcome interpret(const Schedule& schedule, const Holdings& inputs,
                                Pace pace = Pace::by_dependence);

/// Describes the first difference of `outcome` from the expected result; empty if there is none.
[[nodiscard]] std::string difference(const Outcome& outcome, const Holdings& wanted);

/// Runs the schedule on random inputs, one element per chunk, and compares with its contract.
/// Returns the fault or difference, or an empty text.
[[nodiscard]] std::string fault_in_meaning(const Schedule& schedule, std::uint64_t seed,
                                           Pace pace = Pace::by_dependence);

/// Describes where two ranks end with different bits of a chunk, if every order of adding gives
/// different bits; empty if nowhere.
[[nodiscard]] std::string difference_in_bits(const Schedule& schedule, std::uint64_t seed);

}  // namespace tutti::test
