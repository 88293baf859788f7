#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tutti/network/network.hpp>
#include <tutti/network/optimum.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/schedule_source.hpp>
#include <tutti/sim/simulation.hpp>

#include "cli/console/options.hpp"
#include "cli/simulation/rules.hpp"
#include "core/json_value.hpp"

/// What `tutti sim` simulates, and on which network.
namespace tutti::cli {

struct SimOptions {
  std::vector<std::string> names;
  std::string file;
  ProblemOptions problem;
  std::string topo;
  std::string size = "64MiB";
  std::string alpha = "0";
  std::string gamma = "0";
  std::uint32_t ports = 1;
  std::string slice = "0";
  std::string sharing = "max_min";
  std::string routes = "automatic";
  std::string place = "order";
  double noise = 0;
  std::uint64_t seed = 1;
  bool every_rank = false;
  bool in_order = false;
  bool any_order = false;
  std::string memory = "1GiB";

  void add(Command command);
};

/// The shares, from 0 to 1, that a schedule reaches of a network's bounds for the same number of
/// ports. Empty if not known.
struct SharesOfBounds {
  std::optional<double> bound{};        ///< Of the bandwidth that no schedule exceeds.
  std::optional<double> composition{};  ///< Of reduce_scatter then allgather, for an allreduce.
};

/// A network, its routes and its bounds.
class SimNetwork {
 public:
  explicit SimNetwork(const SimOptions& options);

  [[nodiscard]] const Network& network() const { return network_; }
  /// Each thread needs routes of its own.
  [[nodiscard]] Routes routes() const { return Routes(network_, route_options_); }
  /// The assumptions of all simulations on it.
  [[nodiscard]] std::string rules() const { return rules_text(assumed_, policy_); }
  [[nodiscard]] Json rules_as_json() const { return rules_json(assumed_, policy_); }
  /// The shares that `size` bytes in `seconds` reach. Known only for allgather, reduce_scatter and
  /// allreduce of all ranks of the network.
  [[nodiscard]] SharesOfBounds shares(const Contract& contract, std::uint64_t size,
                                      double seconds) const;

 private:
  Network network_;
  RouteOptions route_options_;
  SimulationSettings assumed_;  ///< Of these, only the rules count.
  RoutePolicy policy_ = RoutePolicy::automatic;
  std::optional<Optimum> best_;
};

/// Throws invalid_argument for unknown words.
[[nodiscard]] SimulationSettings settings_of(const SimOptions& options, std::uint32_t ranks,
                                             const Network& network);

/// Makes an algorithm the subject of a simulation. Requires: it is in the table.
[[nodiscard]] ScheduleSource source_of(const Algorithm& algorithm, const Problem& problem);

}  // namespace tutti::cli
