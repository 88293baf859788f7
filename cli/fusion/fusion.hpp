#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/network/routes.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/sim/simulation.hpp>

/// When it pays to fuse tensors into buckets.
namespace tutti::cli {

/// Tensors of one size, which are allreduced one by one or in buckets.
struct FusionTask {
  const Algorithm* algorithm = nullptr;
  Problem problem{};
  CostModel model{};
  std::uint64_t tensors = 0;
  std::uint64_t tensor = 0;            ///< Bytes of one.
  std::vector<std::uint64_t> buckets;  ///< Sizes to compare; a tensor by itself comes first.
  std::string network;                 ///< To simulate on.
};

/// All tensors in buckets of one size.
struct FusionRow {
  std::uint64_t bucket = 0;
  std::uint64_t calls = 0;
  double call = 0;       ///< Seconds of one full bucket, by the α-β-γ model with one port.
  double seconds = 0;    ///< Seconds of all.
  double latency = 0;    ///< The share of messages' α in it.
  double simulated = 0;  ///< Seconds of all on the network.
};

struct Fusion {
  std::vector<FusionRow> rows;
  /// The size of a call that spends half of its time in latency. None if α is 0.
  std::optional<std::uint64_t> half;
  /// The size of a call that spends a tenth of its time in latency.
  std::optional<std::uint64_t> tenth;
  RoutePolicy routes = RoutePolicy::automatic;  ///< Of the simulations.
};

/// The number of tensors in a full bucket: as many as fit, and at least one.
[[nodiscard]] std::uint64_t tensors_in(std::uint64_t bucket, std::uint64_t tensor);

/// The rules by which calls are simulated.
[[nodiscard]] SimulationSettings simulation_of(const FusionTask& task);

[[nodiscard]] Fusion fuse(const FusionTask& task);

}  // namespace tutti::cli
