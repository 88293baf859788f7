#pragma once

#include <span>
#include <vector>

#include <tutti/communicator.hpp>

#include "measure/buffer_pair.hpp"
#include "measure/case.hpp"
#include "measure/pace.hpp"

namespace tutti::measure {

/// Measures algorithms against each other on one communicator. All ranks make the same calls, and
/// all get the same times.
class Arena {
 public:
  /// The communicator must outlive this.
  Arena(Communicator& communicator, std::uint64_t most_bytes, BufferPair::Kind kind);

  [[nodiscard]] std::uint32_t ranks() const { return communicator_.size(); }
  [[nodiscard]] bool leads() const { return communicator_.rank() == 0; }

  /// The seconds of one call among others like it: see time_in_batches(). Of the options only
  /// direct_from and slice_bytes are used.
  [[nodiscard]] double seconds(const Case& what, const Pace& pace, const CallOptions& options = {});

  /// A case in a race, and how to measure it.
  struct Runner {
    Case what{};
    Pace pace{};
    CallOptions options{};
  };
  /// Runs the cases in turns for `rounds` rounds and returns the median seconds of each. A case
  /// that took more than `hopeless` times as long as the fastest in its first round takes no
  /// further part.
  [[nodiscard]] std::vector<double> race(std::span<const Runner> runners, std::size_t rounds,
                                         double hopeless);

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
