#include "cli/simulation/case.hpp"

#include <algorithm>
#include <array>

#include <tutti/error.hpp>
#include <tutti/network/network_file.hpp>

#include "cli/simulation/known_optimum.hpp"
#include "cli/simulation/places.hpp"
#include "core/nearest.hpp"
#include "core/quantity.hpp"
#include "core/reject.hpp"

namespace tutti::cli {
namespace {

Sharing parse_sharing(const std::string& text) {
  constexpr std::array<std::string_view, 2> names{"max_min", "latency_weighted"};
  if (text == names[0]) return Sharing::max_min;
  if (text == names[1]) return Sharing::latency_weighted;
  reject("'" + text + "' is no way to share links." + did_you_mean(text, names) +
         " There are max_min and latency_weighted.");
}

}  // namespace

void SimOptions::add(Command command) {
  command.option("names", names, "algorithms, or a collective: allreduce/ring, allreduce ring tree")
      .text("NAME...");
  command.option("--schedule", file,
                 "a schedule in JSON or MSCCL's XML instead; - is standard input");
  problem.add(command);
  command.option("--topo", topo, "the network: fat_tree:k=8, torus:16x16, or a file").required();
  command.option("--size", size, "bytes of a rank's larger buffer").shows_default();
  command.option("--alpha", alpha, "seconds per message, in addition to the latencies of links")
      .shows_default();
  command.option("--gamma", gamma, "seconds per byte added, or a rate: 0, 0.05ns, 20GB/s")
      .shows_default();
  command
      .option("--ports", ports,
              "messages in and out of a rank at once; 0: as many as its links carry")
      .shows_default();
  command.option("--slice", slice, "largest slice of a chunk in bytes; 0: whole chunks")
      .shows_default();
  command
      .option("--sharing", sharing,
              "how messages share links: max_min, or latency_weighted as in SimGrid")
      .shows_default();
  command.option("--routes", routes, "automatic, shortest, ecmp, dimension_order, up_down")
      .shows_default();
  command
      .option(
          "--place", place,
          "where ranks run: order, random, random:SEED, a list such as 0,4,1 or A,C,B, file:PATH")
      .shows_default();
  command.option("--noise", noise, "average relative delay of messages and sums")
      .shows_default()
      .not_negative();
  command.option("--seed", seed, "seed of the noise and of ecmp routes").shows_default();
  const Option ordered =
      command.flag("--in-order", in_order, "the default: see --any-order").hidden();
  command
      .flag("--any-order", any_order,
            "messages from one rank to another that are ready all flow at once, not one after the "
            "other as on one connection")
      .excludes(ordered);
  command.flag("--every-rank", every_rank, "simulate every rank even if all do the same");
  command.option("--memory", memory, "refuse what needs more memory; 0: no limit").shows_default();
}

SimNetwork::SimNetwork(const SimOptions& options)
    : network_(load_network(options.topo)),
      route_options_{.policy = parse_route_policy(options.routes), .seed = options.seed} {
  best_ = known_optimum(network_, options.ports).optimum;
  assumed_ = {.alpha = parse_seconds(options.alpha),
              .gamma = parse_seconds_per_byte(options.gamma),
              .ports = options.ports,
              .in_order = !options.any_order};
  policy_ = routes().policy();
}

SharesOfBounds SimNetwork::shares(const Contract& contract, std::uint64_t size,
                                  double seconds) const {
  if (!best_ || contract.ranks != network_.rank_count() || seconds <= 0) return {};
  const auto share = [&](Fraction rate) {
    return static_cast<double>(size) / seconds / rate.value();
  };
  switch (contract.collective) {
    case Collective::allgather:
      return {.bound = share(best_->allgather)};
    case Collective::reduce_scatter:
      return {.bound = share(best_->reduce_scatter)};
    case Collective::allreduce:
      return {.bound = share(best_->allreduce), .composition = share(best_->composed_allreduce)};
    default:
      return {};
  }
}

SimulationSettings settings_of(const SimOptions& options, std::uint32_t ranks,
                               const Network& network) {
  return {.alpha = parse_seconds(options.alpha),
          .gamma = parse_seconds_per_byte(options.gamma),
          .ports = options.ports,
          .slice = parse_bytes(options.slice),
          .in_order = !options.any_order,
          .sharing = parse_sharing(options.sharing),
          .places = parse_places(options.place, ranks, network),
          .noise = options.noise,
          .seed = options.seed,
          .symmetry = !options.every_rank,
          .memory = parse_bytes(options.memory)};
}

ScheduleSource source_of(const Algorithm& algorithm, const Problem& problem) {
  return {.name = std::string(algorithm.name),
          .contract = algorithm.contract(problem),
          .program = [&algorithm, problem](Rank rank) { return algorithm.program(problem, rank); },
          .one_rule = true};
}

}  // namespace tutti::cli
