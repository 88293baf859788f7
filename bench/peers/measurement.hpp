#pragma once

#include <cstddef>
#include <string>

#include "peers/peer.hpp"

namespace peers {

/// What is to be measured. Elements are f32, the operation is sum, the root is rank 0.
struct Request {
  Collective collective{};
  /// Of the larger buffer: of all blocks for those that have blocks, which get at least an element
  /// each.
  std::size_t bytes{};
  /// How long to measure, beyond the least number of iterations.
  double seconds = 0.5;
  std::size_t least = 20;
  bool in_place = false;
  /// A barrier before each iteration, not measured.
  bool barrier = false;
};

/// Microseconds per iteration; an iteration takes as long as on the rank where it takes longest.
struct Measurement {
  std::size_t iterations{};
  double median{};
  double p10{};
  double p90{};
};

[[nodiscard]] Case case_of(const Request& request, int ranks);

/// Measures, on all ranks together; all get the same figures.
///
/// Iterations follow each other without a barrier, as in nccl-tests: a call whose root need not
/// wait for anybody overlaps with the next, and what is measured of it is more throughput than
/// latency. With request.barrier none begins before all have ended the one before, as in OSU's
/// benchmarks. Each rank notes its own durations; their maximum over ranks is taken when all is
/// over.
[[nodiscard]] Measurement measure(Peer& peer, const Request& request);

}  // namespace peers
