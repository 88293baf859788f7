#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// How a schedule is found for a network.
enum class SynthesisMethod : std::uint8_t {
  automatic,   ///< Packing and greedy; the schedule with the shorter predicted time.
  packing,     ///< Spanning trees at the best possible rate, after ForestColl.
  greedy,      ///< Edge by edge over time, after TACOS.
  exhaustive,  ///< The fewest rounds, for tiny networks. Needs SynthesisOptions::chunks.
};

/// "automatic", "packing", "greedy", "exhaustive".
[[nodiscard]] TUTTI_API std::string_view name(SynthesisMethod method);
/// The inverse of name(). Throws invalid_argument and suggests the nearest name.
[[nodiscard]] TUTTI_API SynthesisMethod parse_synthesis_method(std::string_view text);

struct SynthesisOptions {
  Rank root{};  ///< Used by broadcast and reduce.
  SynthesisMethod method = SynthesisMethod::automatic;
  /// Size of the larger buffer of a rank for which the schedule is made. It runs for any size.
  std::uint64_t bytes = std::uint64_t{1} << 30;
  /// Chunks per block, or of the whole data of a broadcast; rounded up to a multiple of the number
  /// of trees. 0: as many as make the predicted time short.
  std::uint32_t chunks = 0;
  double seconds = 60;  ///< Limit on the time of the search. The best schedule so far is returned.
  std::uint64_t seed = 1;  ///< For the random choices of the greedy.
  /// Called from time to time with the finished share, from 0 to 1. Returns false to stop: then
  /// synthesize() throws `aborted`.
  std::function<bool(double)> progress{};
};

/// A schedule made for a network.
struct Synthesis {
  Schedule schedule{};
  SynthesisMethod method = SynthesisMethod::packing;  ///< Not `automatic`.
  std::uint32_t trees = 0;  ///< Out of each root; 0 if the greedy made it.
  bool direct = false;      ///< Each tree is a root that sends to every other rank.
  /// The path of every message, if some take another one than Routes would choose. Put them into
  /// Network::own_routes to simulate.
  std::vector<OwnRoute> routes{};
  /// The time that no schedule of this collective can go below, latencies left aside. For an
  /// allreduce, the shortest reduce_scatter followed by the shortest allgather.
  double best_seconds = 0;
  double predicted_seconds = 0;  ///< By the timetable of the synthesis, latencies included.
};

/// Makes a schedule of a broadcast, reduce, allgather, reduce_scatter or allreduce for a network,
/// with as many ranks as the network has. Its result is not verified: see prove().
///
/// Throws invalid_argument if the network is not valid or has one rank, unsupported for other
/// collectives and for networks that are too large, and aborted if the caller stops it.
[[nodiscard]] TUTTI_API Synthesis synthesize(const Network& network, Collective collective,
                                             const SynthesisOptions& options = {});

}  // namespace tutti
