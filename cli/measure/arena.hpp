#pragma once

#include <limits>
#include <span>
#include <vector>

#include <tutti/communicator.hpp>

#include "cli/measure/buffer_pair.hpp"
#include "cli/measure/case.hpp"
#include "cli/measure/pace.hpp"

namespace tutti::measure {

/// Measures algorithms against each other on one communicator. All ranks make the same calls, and
/// all get the same times.
class Arena {
 public:
  /// The communicator must outlive this.
  Arena(Communicator& communicator, std::uint64_t most_bytes, BufferPair::Kind kind);

  [[nodiscard]] Communicator& communicator() { return communicator_; }
  [[nodiscard]] std::uint32_t ranks() const { return communicator_.size(); }
  [[nodiscard]] bool leads() const { return communicator_.rank() == 0; }

  /// The seconds of one call, from when all ranks have come until the last has left. Before each
  /// call the input is rewritten, as programs do, so that no rank finds another's input in its own
  /// cache, and there is a barrier: programs seldom make rooted calls one after the other, and
  /// where such calls overlap, an algorithm that is slow by itself looks fast. For an allreduce it
  /// is the mean of calls in place and out of place.
  [[nodiscard]] double seconds(const Case& what, const Pace& pace,
                               const CallOptions::Tuning& tuning = {});

  /// A case in a race, and how to measure it.
  struct Runner {
    Case what{};
    Pace pace{};
    CallOptions::Tuning tuning{};
  };
  /// How long a race is.
  struct Race {
    std::size_t rounds = 3;
    /// A case that took this many times as long as the fastest in its first round takes no further
    /// part.
    double hopeless = std::numeric_limits<double>::infinity();
    /// After each round, the slower half drops out as well: see successive halving. The first case
    /// stays.
    bool halves = false;
    /// When this time is over, the race ends. Cases that had no turn have no time then, except that
    /// the first two always have one.
    double seconds = std::numeric_limits<double>::infinity();
  };
  /// Runs the cases in turns and returns the median seconds of each; infinity for those that had
  /// no turn.
  [[nodiscard]] std::vector<double> race(std::span<const Runner> runners, const Race& race);

  /// The seconds of a message between ranks 0 and 1. Other ranks wait.
  [[nodiscard]] double message_seconds(std::uint64_t bytes, std::size_t times);

  /// The value of rank 0, on all ranks.
  [[nodiscard]] bool ask_leader(bool own);

 private:
  Communicator& communicator_;
  Communicator aside_;  // For the measurement itself.
  BufferPair buffers_;
};

}  // namespace tutti::measure
