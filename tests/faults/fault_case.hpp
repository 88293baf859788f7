#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "support/collective_check.hpp"
#include "support/random.hpp"

namespace tutti::test {

/// The fault of one rank.
enum class Fault {
  exit,      ///< Its process ends without notice.
  kill,      ///< SIGKILL.
  crash,     ///< SIGSEGV.
  stop,      ///< SIGSTOP: it exists but does not run.
  abort,     ///< It calls abort().
  mismatch,  ///< It makes a different call.
  slow,      ///< It comes too late.
  hang_up,   ///< Its connections for data are shut down.
  none,      ///< Nothing; only in scenarios for which that is a useful case.
};
inline constexpr std::uint32_t fault_kinds = 8;
[[nodiscard]] std::string name(Fault fault);

/// The transports between the ranks.
enum class Ground { threads, memory, tcp, mixed };
inline constexpr std::uint32_t grounds = 4;
[[nodiscard]] std::string name(Ground ground);

enum class Moment { before, start, middle, end };
[[nodiscard]] std::string name(Moment moment);

/// How the call of the faulty rank differs.
enum class Difference { none, collective, dtype, op, count, root, order, counts };
[[nodiscard]] std::string name(Difference difference);

/// What the other ranks do when they have the verdict.
enum class Ending {
  recovers,  ///< Shrink the group, and repeat the call.
  returns,   ///< Destroy the communicator and end.
  exits,     ///< _exit()
  throws,    ///< An uncaught exception ends the process.
  dies,      ///< SIGKILL
};
inline constexpr std::uint32_t endings = 5;
[[nodiscard]] std::string name(Ending ending);

/// A fault of one rank of a group. A value: all members follow from the seed and the number.
struct FaultCase {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  std::uint32_t scenario = 0;  ///< Its row in the table of scenarios.
  Fault fault = Fault::kill;
  Ground ground = Ground::memory;
  Moment moment = Moment::before;
  Difference difference = Difference::none;
  std::uint32_t ranks = 2;
  std::uint32_t victim = 0;
  Trial trial{};
  std::chrono::microseconds delay{0};  ///< From the start of the call; for Moment start and middle.
  bool continues = false;              ///< A stopped rank is continued; otherwise killed.
  bool second = false;                 ///< Another rank dies while the rest shrink.
  Ending ending = Ending::recovers;
  std::uint32_t stopped = 1;  ///< The number of stopped ranks, from the victim on.

  /// Random numbers for a scenario while it runs: the same on all ranks.
  [[nodiscard]] Random chance() const;

  [[nodiscard]] std::uint32_t second_victim() const { return (victim + 1) % ranks; }
  [[nodiscard]] bool is_stopped(std::uint32_t rank) const;
  /// The timeout of the other ranks' calls.
  [[nodiscard]] std::chrono::milliseconds call_timeout() const;
  /// The default timeout of the group.
  std::chrono::milliseconds group_timeout{6000};
  /// The call of this rank.
  [[nodiscard]] Trial trial_of(std::uint32_t rank) const;
  [[nodiscard]] bool takes_life() const;
  /// Whether the faulty rank exists, but the others wait for it past their deadline.
  [[nodiscard]] bool keeps_waiting() const { return fault == Fault::stop || fault == Fault::slow; }
};

[[nodiscard]] FaultCase draw(std::uint64_t seed, std::uint64_t number);

/// A description for people: "kill in the middle, tcp, 4 ranks, rank 2, allreduce/ring f32 …".
[[nodiscard]] std::string words(const FaultCase& fault_case);

}  // namespace tutti::test
