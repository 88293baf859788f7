#include "cli/simulation/known_optimum.hpp"

#include <cstdint>

#include <tutti/error.hpp>

namespace tutti::cli {

KnownOptimum known_optimum(const Network& network) {
  // A flow for each rank, each of which looks at every link many times.
  constexpr std::uint64_t most_work = 30'000'000;
  if (network.rank_count() < 2) return {.why_not = "one rank alone has nobody to send to"};
  if (std::uint64_t{network.rank_count()} * network.links.size() > most_work) {
    return {.why_not = "not worked out for a network of this size"};
  }
  try {
    return {.optimum = optimum(network)};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return {.why_not = error.what()};
  }
}

}  // namespace tutti::cli
