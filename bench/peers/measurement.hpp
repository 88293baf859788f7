#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "peers/peer.hpp"

namespace peers {

/// What is to be measured.
struct Request {
  Collective collective{};
  DType dtype = DType::f32;
  /// Where there is one.
  Op op = Op::sum;
  int root = 0;
  /// Of the larger buffer: of all blocks for those that have blocks, which get at least an element
  /// each.
  std::size_t bytes{};
  /// How long to measure, beyond the least number of iterations.
  double seconds = 0.5;
  std::size_t least = 20;
  /// Calls before those that count; none: for a while.
  std::optional<std::size_t> warm_ups{};
  bool in_place = false;
  /// A barrier before each iteration, not measured.
  bool barrier = false;
  /// Check the results too, on numbers that follow from this.
  std::optional<std::uint64_t> seed{};
};

/// Microseconds per iteration; an iteration takes as long as on the rank where it takes longest.
struct Measurement {
  std::size_t iterations{};
  double median{};
  double p10{};
  double p90{};
  /// Elements on all ranks together; none if they were not checked.
  std::optional<std::size_t> wrong{};
  /// As the library calls it, if it tells.
  std::string algorithm{};
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
