#pragma once

#include <span>
#include <vector>

#include <tutti/communicator.hpp>

#include "cli/bench/case.hpp"
#include "cli/bench/memory.hpp"
#include "cli/bench/timing.hpp"

namespace tutti::cli {

/// Where algorithms run against each other: one rank's memory, and a communicator for the judges.
///
/// All ranks make the same calls, and all learn the same times.
class Arena {
 public:
  /// The communicator must outlive this.
  Arena(Communicator& communicator, std::uint64_t most_bytes, BenchMemory::Kind kind);

  [[nodiscard]] std::uint32_t ranks() const { return communicator_.size(); }
  [[nodiscard]] bool leads() const { return communicator_.rank() == 0; }

  /// The time of a call among others like it, in seconds.
  [[nodiscard]] double seconds(const BenchCase& what, const BenchPace& pace,
                               const CallOptions& options = {});

  /// A case in a race, and how to measure it.
  struct Runner {
    BenchCase what{};
    BenchPace pace{};
    CallOptions options{};
  };
  /// As many taking turns: the medians over `rounds` of their times. From the second round on,
  /// those that took more than `hopeless` times as long as the fastest no longer take part.
  [[nodiscard]] std::vector<double> race(std::span<const Runner> runners, std::size_t rounds,
                                         double hopeless);

  /// The time that a message takes between ranks 0 and 1, in seconds; others wait.
  [[nodiscard]] double message_seconds(std::uint64_t bytes, std::size_t times);

  /// What rank 0 thinks.
  [[nodiscard]] bool ask_leader(bool own);

 private:
  Communicator& communicator_;
  Communicator aside_;
  BenchMemory one_;
  BenchMemory other_;
};

}  // namespace tutti::cli
