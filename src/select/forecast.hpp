#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>

#include "select/profile.hpp"

namespace tutti {

/// The ranks of a call and the machines they run on.
struct Party {
  std::uint32_t ranks = 1;
  std::uint32_t cores = 1;  ///< Cores of all hosts together that the ranks may use.
  Reach reach{};
  Shape hosts{};  ///< Ranks per host × hosts; empty if hosts have different numbers of ranks.
  /// The shapes that hierarchical algorithms may use on the network, if it is known: see
  /// natural_shapes().
  std::vector<Shape> shapes{};
  /// The network between the ranks, if known: schedules are then simulated on it. `places[r]` is
  /// the rank of the network on which rank r runs; empty: rank r.
  std::shared_ptr<const Network> network{};
  std::vector<Rank> places{};
  std::optional<double> gamma{};  ///< Seconds per byte reduced; empty: as in the profile.
  std::size_t slice_bytes = 0;    ///< The slices of the executor; 0: as in the profile.

  friend bool operator==(const Party&, const Party&) = default;

  /// True if there are several hosts with several ranks each.
  [[nodiscard]] bool is_mixed() const {
    return hosts.dimensions.size() == 2 && hosts.dimensions[0] > 1 && hosts.dimensions[1] > 1;
  }
};

/// The slice with which a schedule is simulated: that of the executor, or a longer one if there
/// would be too many messages; 0 if slices would not be longer than half of the messages.
[[nodiscard]] std::uint64_t simulated_slice(const ScheduleSource& source, const Layout& layout,
                                            std::uint64_t slice);

/// The expected time of an algorithm.
struct Expectation {
  double seconds = 0;
  double modelled = 0;    ///< The time by the model alone.
  bool measured = false;  ///< True if measurements of this algorithm corrected the model.
  /// True if it was so slow for smaller sizes that it was not measured for this size.
  bool given_up = false;
  /// True if most algorithms of the collective were measured, but not this one.
  bool untried = false;
};

/// How a schedule uses the links of a network. Messages at the same time compete for a link, and a
/// connection that was idle is slow at first. Ordered by what costs more.
struct Flows {
  double at_once = 0;     ///< Messages that a rank sends at the same time, on average.
  std::size_t peers = 0;  ///< To which a rank sends: the root, or its neighbour if that has more.

  friend auto operator<=>(const Flows&, const Flows&) = default;
};

/// Predicts the time of algorithms for one party, from one profile.
///
/// The model prices the effort of a schedule. The measurements of an algorithm give a correction
/// factor for the model. The factor is interpolated between measured sizes and numbers of ranks,
/// and constant beyond them. If other algorithms of the collective were measured beyond them, this
/// algorithm counts as given up there.
///
/// If only some pairs of ranks share a host, a schedule is priced message by message. If the
/// network is known, the schedule is simulated on it, in the slices of the executor.
class Forecast {
 public:
  /// The profile must outlive this.
  Forecast(const Profile& profile, const Party& party);

  /// Requires: the method supports the problem.
  [[nodiscard]] Expectation expect(const Method& method, const Problem& problem,
                                   std::uint64_t bytes) const;

  /// True if most algorithms of its collective were measured, but not this one. The model alone may
  /// err by a factor, so a measured algorithm is preferred.
  [[nodiscard]] bool is_untried(const Method& method) const;

  /// Requires: the method supports the problem.
  [[nodiscard]] Flows flows(const Method& method, const Problem& problem,
                            std::uint64_t bytes) const;

  [[nodiscard]] const Profile& profile() const { return *profile_; }
  [[nodiscard]] const Party& party() const { return party_; }
  [[nodiscard]] const ReachProfile& reach_profile() const { return *reach_; }

 private:
  struct Factor {
    std::uint64_t bytes;
    double log;  // Logarithm of measured over modelled time.
  };
  struct Curve {
    std::uint32_t ranks;
    std::vector<Factor> factors;
  };

  /// What measurements say about the algorithms of one collective.
  struct Knowledge {
    /// By identity: the curves of the numbers of ranks next to that of the party.
    std::unordered_map<std::uint64_t, std::vector<Curve>> curves{};
    /// Most programs use few collectives, so curves are computed on first use.
    std::once_flag computed{};
    /// By identity, then by ranks.
    std::unordered_map<std::uint64_t, std::vector<const Measurement*>> measurements{};
    /// The largest size that was measured for any algorithm, by ranks.
    std::map<std::uint32_t, std::uint64_t> largest{};
    /// True if half of the algorithms or more were measured.
    bool is_known = false;
  };

  [[nodiscard]] Knowledge& knowledge(Collective collective) const {
    return knowledge_[static_cast<std::size_t>(collective)];
  }
  [[nodiscard]] const std::vector<Curve>* curves(const Method& method) const;
  [[nodiscard]] Curve curve(const Measurement& measurement) const;
  [[nodiscard]] bool is_given_up(Collective collective, const Curve& curve,
                                 std::uint64_t bytes) const;
  [[nodiscard]] double price(const Method& method, const Problem& problem,
                             std::uint64_t bytes) const;
  [[nodiscard]] double simulated(const Method& method, const Problem& problem,
                                 std::uint64_t bytes) const;

  const Profile* profile_;
  Party party_;
  const ReachProfile* reach_;
  std::unique_ptr<Routes> routes_;          // Routes of the network, if there is one.
  std::unique_ptr<Knowledge[]> knowledge_;  // By collective.
};

}  // namespace tutti
