#pragma once

#include <cstdint>
#include <vector>

#include <tutti/rank.hpp>

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

}  // namespace tutti
