#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "support/collective_check.hpp"
#include "support/random.hpp"

namespace tutti::test {

/// What becomes of one rank.
enum class Fault {
  exit,      ///< Its process ends without a word.
  kill,      ///< SIGKILL.
  crash,     ///< SIGSEGV.
  stop,      ///< SIGSTOP: it is there but does nothing.
  abort,     ///< It calls abort().
  mismatch,  ///< It makes another call than the others.
  slow,      ///< It comes too late.
  hang_up,   ///< Its connections for data are shut down.
  none,      ///< Nothing; drawn only by scenarios in which that is worth a case.
};
inline constexpr std::uint32_t fault_kinds = 8;
[[nodiscard]] std::string name(Fault fault);

/// By what the ranks reach each other.
enum class Ground { threads, memory, tcp, mixed };
inline constexpr std::uint32_t grounds = 4;
[[nodiscard]] std::string name(Ground ground);

enum class Moment { before, start, middle, end };
[[nodiscard]] std::string name(Moment moment);

/// In what the call of the faulty rank differs.
enum class Difference { none, collective, dtype, op, count, root, order, counts };
[[nodiscard]] std::string name(Difference difference);

/// What the others do once they have their verdict.
enum class Ending {
  recovers,  ///< Shrink the group, and repeat the call.
  returns,   ///< Destroy the communicator and end.
  exits,     ///< _exit()
  throws,    ///< An exception that nobody catches ends the process.
  dies,      ///< SIGKILL
};
inline constexpr std::uint32_t endings = 5;
[[nodiscard]] std::string name(Ending ending);

/// Something happens to one rank of a group. A value: all of it follows from the seed and the
/// number.
struct FaultCase {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  std::uint32_t scenario = 0;  ///< Its row in the table.
  Fault fault = Fault::kill;
  Ground ground = Ground::memory;
  Moment moment = Moment::before;
  Difference difference = Difference::none;
  std::uint32_t ranks = 2;
  std::uint32_t victim = 0;
  Trial trial{};
  std::chrono::microseconds delay{0};  ///< From the beginning of the call, at start and in middle.
  bool continues = false;              ///< A stopped rank is let go on, and else killed.
  bool second = false;                 ///< Another rank dies while the rest shrink.
  Ending ending = Ending::recovers;
  std::uint32_t stopped = 1;  ///< So many ranks, from the victim on, are stopped if one is.

  /// For what a scenario leaves to chance while it is played: the same numbers on all ranks.
  [[nodiscard]] Random chance() const;

  [[nodiscard]] std::uint32_t second_victim() const { return (victim + 1) % ranks; }
  [[nodiscard]] bool is_stopped(std::uint32_t rank) const;
  /// How long the others wait in their calls.
  [[nodiscard]] std::chrono::milliseconds call_timeout() const;
  /// How long ranks wait for each other where they are not told otherwise.
  std::chrono::milliseconds group_timeout{6000};
  /// What this rank is to call.
  [[nodiscard]] Trial trial_of(std::uint32_t rank) const;
  [[nodiscard]] bool takes_life() const;
  /// The faulty rank is there, but the others wait for it past their deadline.
  [[nodiscard]] bool keeps_waiting() const { return fault == Fault::stop || fault == Fault::slow; }
};

[[nodiscard]] FaultCase draw(std::uint64_t seed, std::uint64_t number);

/// All of it, for people: "kill in the middle, tcp, 4 ranks, rank 2, allreduce/ring f32 …".
[[nodiscard]] std::string words(const FaultCase& fault_case);

}  // namespace tutti::test
