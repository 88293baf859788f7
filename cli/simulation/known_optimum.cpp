#include "cli/simulation/known_optimum.hpp"

#include <tutti/error.hpp>

#include "topology/limit_ports.hpp"

namespace tutti::cli {

KnownOptimum known_optimum(const Network& network, std::uint32_t ports) {
  // One maximum flow per rank, each of which visits every link many times.
  constexpr std::uint64_t most_work = 30'000'000;
  if (network.rank_count() < 2) return {.why_not = "one rank alone sends nothing"};
  if (std::uint64_t{network.rank_count()} * network.links.size() > most_work) {
    return {.why_not = "not computed for a network of this size"};
  }
  try {
    return {.optimum = optimum(limit_ports(network, ports))};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return {.why_not = error.what()};
  }
}

}  // namespace tutti::cli
