#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

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
  /// The network between the ranks, if known: schedules are then simulated on it. `places[r]` is
  /// the rank of the network on which rank r runs; empty: rank r.
  std::shared_ptr<const Network> network{};
  std::vector<Rank> places{};
  std::optional<double> gamma{};  ///< Seconds per byte reduced; empty: as in the profile.

  friend bool operator==(const Party&, const Party&) = default;

  /// True if there are several hosts with several ranks each.
  [[nodiscard]] bool is_mixed() const {
    return hosts.dimensions.size() == 2 && hosts.dimensions[0] > 1 && hosts.dimensions[1] > 1;
  }
};

/// The shape in which the ranks of a network are arranged: that of a torus, or ranks per host ×
/// hosts; empty otherwise.
[[nodiscard]] Shape natural_shape(const Network& network);

/// The expected time of an algorithm.
struct Expectation {
  double seconds = 0;
  double modelled = 0;    ///< The time by the model alone.
  bool measured = false;  ///< True if measurements of this algorithm corrected the model.
  /// True if it was so slow for smaller sizes that it was not measured for this size.
  bool given_up = false;
};

/// Predicts the time of algorithms for one party, from one profile.
///
/// The model prices the effort of a schedule. The measurements of an algorithm give a correction
/// factor for the model. The factor is interpolated between measured sizes and numbers of ranks,
/// and constant beyond them. If other algorithms of the collective were measured beyond them, this
/// algorithm counts as given up there.
///
/// If only some pairs of ranks share a host, a schedule is priced message by message. If the
/// network is known, the schedule is simulated on it.
class Forecast {
 public:
  /// The profile must outlive this.
  Forecast(const Profile& profile, const Party& party);

  /// Requires: the method supports the problem.
  [[nodiscard]] Expectation expect(const Method& method, const Problem& problem,
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

  void add(const Measurement& measurement);
  [[nodiscard]] bool is_given_up(Collective collective, const Curve& curve,
                                 std::uint64_t bytes) const;
  [[nodiscard]] double price(const Method& method, const Problem& problem,
                             std::uint64_t bytes) const;
  [[nodiscard]] double simulated(const Method& method, const Problem& problem,
                                 std::uint64_t bytes) const;

  const Profile* profile_;
  Party party_;
  const ReachProfile* reach_;
  std::unique_ptr<Routes> routes_;  // Routes of the network, if there is one.
  std::unordered_map<std::uint64_t, std::vector<Curve>> curves_;  // By identity, then by ranks.
  /// The largest size that was measured for any algorithm.
  std::map<std::pair<Collective, std::uint32_t>, std::uint64_t> largest_;
};

}  // namespace tutti
