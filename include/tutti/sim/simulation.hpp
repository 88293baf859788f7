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

/// How flows share a link. Both are max-min fair: no flow can get more without taking from a flow
/// that already has less. They differ in the quantity that is compared.
enum class Sharing : std::uint8_t {
  max_min,           ///< Bytes per second.
  latency_weighted,  ///< Bytes per second times the latency of the route: short routes get more,
                     ///< as with TCP, and as in SimGrid's model CM02.
};

/// Parameters of a simulation besides the schedule and the network.
struct SimulationSettings {
  double alpha = 0;         ///< Seconds per message, added to the latency of its route.
  double gamma = 0;         ///< Seconds per byte reduced.
  std::uint32_t ports = 1;  ///< Messages in and out of a rank at the same time; 0: no limit.
  std::uint64_t slice = 0;  ///< Maximum bytes of a slice; 0: chunks are not sliced.
  /// The messages from one rank to another leave in the order of the program and flow one after the
  /// other, as on one connection. If not, all that are ready share their links. With one port they
  /// never flow at the same time.
  bool in_order = true;
  Sharing sharing = Sharing::max_min;
  /// places[r] is the rank of the network on which rank r runs; empty: rank r.
  std::vector<Rank> places{};
  /// Each message and each reduction takes longer by this factor times a random number of mean 1
  /// (exponential).
  double noise = 0;
  std::uint64_t seed = 1;  ///< Seed of the noise.
  bool symmetry = true;    ///< Simulate one rank, or a few, if all others behave alike.
  bool records = false;    ///< Record every message and reduction.
  /// A simulation that would need more bytes of memory is refused with an estimate; 0: no limit.
  std::uint64_t memory = std::uint64_t{1} << 30;
  std::uint32_t intervals =
      0;  ///< Number of intervals for which the bytes of each link are recorded; 0: none.
};

/// The use of one directed link.
struct LinkUse {
  double bytes = 0;
  double busy = 0;  ///< Seconds during which at least one flow used the link.
};

/// A message or a reduction. Times are seconds since the start.
struct Activity {
  enum class Kind : std::uint8_t { message, sum };

  Kind kind = Kind::message;
  Rank rank{};  ///< The rank that sends or reduces.
  Rank peer{};  ///< The receiver; for a reduction the same as `rank`.
  std::uint32_t round = 0;
  std::uint64_t bytes = 0;  ///< Bytes moved or reduced.
  double begin = 0;
  double end = 0;
  /// Seconds it would have taken on an idle network. The rest is contention.
  double alone = 0;

  friend bool operator==(const Activity&, const Activity&) = default;
};

/// Bytes of each link over time. Links of which one stands for several share a row.
struct UtilisationSeries {
  static constexpr std::uint32_t idle = UINT32_MAX;

  double seconds = 0;  ///< Length of an interval; interval i ends at (i + 1)·seconds.
  std::uint32_t rows = 0;
  std::vector<double> bytes;          ///< By interval and row: bytes[i·rows + row].
  std::vector<std::uint32_t> row_of;  ///< By link; `idle` if it is not used. Empty: row l.

  [[nodiscard]] std::size_t intervals() const { return rows == 0 ? 0 : bytes.size() / rows; }
  [[nodiscard]] std::uint32_t row(LinkId link) const {
    return row_of.empty() ? link.index() : row_of[link.index()];
  }
  /// The bytes that a link carried in an interval.
  [[nodiscard]] double carried(std::size_t interval, LinkId link) const {
    return row(link) == idle ? 0 : bytes[interval * rows + row(link)];
  }
};

/// The result of a simulation.
struct Simulation {
  double seconds = 0;            ///< Time at which the last rank finishes.
  std::uint64_t messages = 0;    ///< Messages sent; each slice counts as one.
  std::uint64_t bytes = 0;       ///< Bytes sent by all ranks together.
  std::vector<double> finished;  ///< Time at which each rank has received and sent everything.
  std::vector<LinkUse> links;    ///< Indexed by LinkId.
  /// The chain of messages and reductions that ends last. Each one waited for the one before it.
  std::vector<Activity> critical_path;
  /// Every message and reduction, sorted by start time. Empty unless SimulationSettings::records.
  std::vector<Activity> activities;
  /// Empty unless SimulationSettings::intervals.
  UtilisationSeries utilisation;
  bool by_symmetry = false;           ///< True if some ranks were simulated for all.
  std::uint32_t simulated_ranks = 0;  ///< The number of ranks that were simulated.
};

/// Called from time to time with the number of messages that have arrived, and of all messages.
using SimulationProgress = std::function<void(std::uint64_t arrived, std::uint64_t messages)>;

/// Simulates a schedule on a network.
///
/// A message starts when its data is ready and, if ports are limited, when its sender has a free
/// port out and its receiver a free port in, by the rules of Pricer (price.hpp). After alpha and
/// the latency of its route its bytes flow over all links of the route at once (cut-through), at a
/// rate that it shares with the other flows on its links. It arrives with its last byte. A
/// reduction starts when all its operands are ready. If no two flows share a link, the result is
/// the α-β-γ critical path.
///
/// If chunks are cut into slices, a slice that is under way keeps the later slices of the same
/// message from flowing: they are served in order.
///
/// Throws invalid_argument if the network has fewer ranks than the schedule, if the layout has
/// another number of chunks, or if verify() rejects the schedule; and unsupported if it would need
/// more memory than the settings allow. An exception of `progress` ends the simulation.
[[nodiscard]] TUTTI_API Simulation simulate(const Network& network, Routes& routes,
                                            const ScheduleSource& source, const Layout& layout,
                                            const SimulationSettings& settings = {},
                                            const SimulationProgress& progress = {});

}  // namespace tutti
