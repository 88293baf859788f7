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

/// Who takes part, and where: what the time of a call depends on besides the call.
struct Party {
  std::uint32_t ranks = 1;
  std::uint32_t cores = 1;  ///< That the ranks may run on, of all hosts together.
  Reach reach{};
  Shape hosts{};  ///< So many ranks on each of so many hosts; empty if unevenly.
  /// The network between them, if it is known: then schedules are simulated on it. And on which of
  /// its ranks each rank runs; empty: on the one of its own number.
  std::shared_ptr<const Network> network{};
  std::vector<Rank> places{};
  std::optional<double> gamma{};  ///< Seconds for a byte added there; none: as the profile has it.

  friend bool operator==(const Party&, const Party&) = default;

  /// Whether some ranks share a host and others do not.
  [[nodiscard]] bool is_mixed() const {
    return hosts.dimensions.size() == 2 && hosts.dimensions[0] > 1 && hosts.dimensions[1] > 1;
  }
};

/// How the ranks of a network stand: in a torus, or so many on each of so many hosts; empty if in
/// neither way.
[[nodiscard]] Shape natural_shape(const Network& network);

/// How long an algorithm is expected to take.
struct Expectation {
  double seconds = 0;
  double modelled = 0;    ///< By the model alone,
  bool measured = false;  ///< which was then set right by measurements of this very algorithm.
  /// It was so far behind with less data that it was no longer measured with so much.
  bool given_up = false;
};

/// Foretells how long algorithms take, for one party, by one profile.
///
/// The model prices the effort of a schedule. What was measured of an algorithm says by which
/// factor the model errs for it; between measured sizes and numbers of ranks the factor is
/// interpolated, and beyond them it stays as it was last: but if others of the collective were
/// measured there, it was given up.
///
/// Where some pairs share a host and others do not, a schedule is priced message by message; and
/// where the network is known, it is simulated there.
class Forecast {
 public:
  /// The profile must outlive this.
  Forecast(const Profile& profile, const Party& party);

  /// Requires: the method does not refuse the problem.
  [[nodiscard]] Expectation expect(const Method& method, const Problem& problem,
                                   std::uint64_t bytes) const;

  [[nodiscard]] const Profile& profile() const { return *profile_; }
  [[nodiscard]] const Party& party() const { return party_; }
  [[nodiscard]] const ReachProfile& reach_profile() const { return *reach_; }

 private:
  struct Factor {
    std::uint64_t bytes;
    double log;  // Of measured over modelled.
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
  std::unique_ptr<Routes> routes_;  // Of the network, if there is one.
  std::unordered_map<std::uint64_t, std::vector<Curve>> curves_;  // By identity; by ranks.
  /// The largest size that was measured, by any algorithm.
  std::map<std::pair<Collective, std::uint32_t>, std::uint64_t> largest_;
};

}  // namespace tutti
