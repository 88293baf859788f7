#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/schedule_source.hpp>
#include <tutti/sim/simulation.hpp>

#include "cli/console/options.hpp"

/// What is simulated by `tutti sim`, and on what.
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

  void add(Command command);
};

/// A network, its routes and what it can do at best.
class SimNetwork {
 public:
  explicit SimNetwork(const SimOptions& options);

  [[nodiscard]] const Network& network() const { return network_; }
  /// Routes of its own for each thread.
  [[nodiscard]] Routes routes() const { return Routes(network_, route_options_); }
  /// How near to the best that any schedule can do on the network, from 0 to 1: `size` bytes in
  /// `seconds`. None where the best is not known, which is so unless all ranks of the network take
  /// part in an allgather, reduce_scatter or allreduce.
  [[nodiscard]] std::optional<double> part_of_optimum(const Contract& contract, std::uint64_t size,
                                                      double seconds) const;

 private:
  Network network_;
  RouteOptions route_options_;
  std::optional<double> gather_;  // Bytes per second at best.
  std::optional<double> reduce_;
  std::optional<double> all_reduce_;
};

/// Throws invalid_argument where the words make no sense.
[[nodiscard]] SimulationSettings settings_of(const SimOptions& options, std::uint32_t ranks,
                                             const Network& network);

/// An algorithm as something to simulate. Requires: it is one of the table.
[[nodiscard]] ScheduleSource source_of(const Algorithm& algorithm, const Problem& problem);

}  // namespace tutti::cli
