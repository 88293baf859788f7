#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/rank.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

namespace tutti {

/// How flows that meet on a link divide it between them. Either way nobody can have more without
/// taking it from one who has less already (max-min fairness); the question is what counts as less.
enum class Sharing : std::uint8_t {
  max_min,           ///< Bytes per second.
  latency_weighted,  ///< Bytes per second times the latency of the route: who has it near gets
                     ///< more, as with TCP, and as in SimGrid's model CM02.
};

/// What is simulated besides the schedule and the network.
struct SimulationSettings {
  double alpha = 0;         ///< Seconds per message, besides the latency of its route.
  double gamma = 0;         ///< Seconds per byte added.
  std::uint32_t ports = 1;  ///< So many messages in and out of a rank at once; 0: any number.
  std::uint64_t slice = 0;  ///< Chunks move in slices of at most so many bytes; 0: whole.
  Sharing sharing = Sharing::max_min;
  /// places[r] is the network's rank that rank r runs on; empty: rank r.
  std::vector<Rank> places{};
  /// A message, and a sum, takes longer by this factor times a random number of mean 1
  /// (exponential).
  double noise = 0;
  std::uint64_t seed = 1;  ///< Of the noise.
  bool symmetry = true;    ///< Simulate one rank for all where all do the same.
  bool records = false;    ///< Keep every message and sum.
  std::uint32_t intervals =
      0;  ///< Cut the time into so many and tell what each link carried in each.
};

/// What one directed link had to carry.
struct LinkUse {
  double bytes = 0;
  double busy = 0;  ///< Seconds during which something flowed.
};

/// A message on its way, or a sum being made. Times are seconds since the beginning.
struct Activity {
  enum class Kind : std::uint8_t { message, sum };

  Kind kind = Kind::message;
  Rank rank{};  ///< Who sends or adds.
  Rank peer{};  ///< Who receives; of a sum, the same rank again.
  std::uint32_t round = 0;
  std::uint64_t bytes = 0;  ///< Moved or added.
  double begin = 0;
  double end = 0;
  /// Seconds it would have taken with the network to itself: the rest went to others' messages.
  double alone = 0;

  friend bool operator==(const Activity&, const Activity&) = default;
};

/// What the links carried over time: in the i-th interval, which ends at (i + 1)·seconds, link l
/// carried bytes[i·links + l].
struct UtilisationSeries {
  double seconds = 0;  ///< How long an interval is.
  std::uint32_t links = 0;
  std::vector<double> bytes;

  [[nodiscard]] std::size_t intervals() const { return links == 0 ? 0 : bytes.size() / links; }
};

/// How a schedule went on a network.
struct Simulation {
  double seconds = 0;            ///< When the last rank is done.
  std::uint64_t messages = 0;    ///< Sent; slices count each.
  std::uint64_t bytes = 0;       ///< Sent by all ranks together.
  std::vector<double> finished;  ///< When each rank has got all that it receives and sent all.
  std::vector<LinkUse> links;    ///< By the number of the network's directed links.
  /// The chain of messages and sums that ends last, each of which had to wait for the one before
  /// it.
  std::vector<Activity> critical_path;
  /// On request: every message and sum, by the time of its begin.
  std::vector<Activity> activities;
  /// On request.
  UtilisationSeries utilisation;
  bool by_symmetry = false;  ///< Whether one rank was simulated for all.
};

/// Called now and then with how many of all messages have arrived.
using SimulationProgress = std::function<void(std::uint64_t arrived, std::uint64_t messages)>;

/// Runs a schedule, as it is, on a network.
///
/// A message leaves when what it carries is there and, if ports are limited, when its sender has a
/// way out and its receiver a way in, by the rules of Pricer (price.hpp). After alpha and the
/// latency of its route its bytes flow, all links of the route at once, at a rate that it shares
/// with the other flows on its links; with the last byte it has arrived. A fold begins when all its
/// operands are there. Where no two flows meet, that is the α-β-γ critical path.
///
/// Throws invalid_argument if the network has fewer ranks than the schedule, the layout other
/// chunks, or the schedule is not one that verify() passes.
[[nodiscard]] TUTTI_API Simulation simulate(const Network& network, Routes& routes,
                                            const ScheduleSource& source, const Layout& layout,
                                            const SimulationSettings& settings = {},
                                            const SimulationProgress& progress = {});

}  // namespace tutti
