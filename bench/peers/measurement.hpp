#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "peers/peer.hpp"
#include "peers/starting_line.hpp"

namespace peers {

/// A request for a measurement.
struct Request {
  Collective collective{};
  DType dtype = DType::f32;
  /// If the collective has a root.
  Op op = Op::sum;
  int root = 0;
  /// Size of the larger buffer: of all blocks, if there are blocks; each has at least one element.
  std::size_t bytes{};
  /// Time to measure, beyond the minimum number of iterations.
  double seconds = 0.5;
  std::size_t least = 20;
  /// Warm-up calls; none: warm up by time.
  std::optional<std::size_t> warm_ups{};
  bool in_place = false;
  /// A barrier before each iteration, not measured.
  bool barrier = false;
  /// Rewrite the input, then a barrier, before each iteration; not measured.
  bool fresh = false;
  /// Also check the results, on numbers from this seed.
  std::optional<std::uint64_t> seed{};
};

/// Microseconds per iteration. The time of an iteration is the maximum over ranks.
struct Measurement {
  std::size_t iterations{};
  double median{};
  double p10{};
  double p90{};
  /// Wrong elements on all ranks together; none if they were not checked.
  std::optional<std::size_t> wrong{};
  /// The library's name for it, if known.
  std::string algorithm{};
};

[[nodiscard]] Case case_of(const Request& request, int ranks);

/// Measures on all ranks together; all get the same figures.
///
/// Iterations follow each other without a barrier, as in nccl-tests. A call whose root need not
/// wait for other ranks overlaps with the next, so its time is throughput rather than latency. With
/// request.barrier no iteration begins before all ranks have ended the one before, as in the OSU
/// benchmarks. Each rank records its own durations; the maximum over ranks is taken at the end.
[[nodiscard]] Measurement measure(Peer& peer, StartingLine& line, const Request& request);

}  // namespace peers
