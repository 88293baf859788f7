#include "cli/simulation/case.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

#include <tutti/error.hpp>
#include <tutti/network/network_file.hpp>

#include "cli/simulation/known_optimum.hpp"
#include "core/nearest.hpp"
#include "core/quantity.hpp"

namespace tutti::cli {
namespace {

[[noreturn]] void reject(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

Sharing parse_sharing(const std::string& text) {
  constexpr std::array<std::string_view, 2> names{"max_min", "latency_weighted"};
  if (text == names[0]) return Sharing::max_min;
  if (text == names[1]) return Sharing::latency_weighted;
  reject("'" + text + "' is no way to share links." + did_you_mean(text, names) +
         " There are max_min and latency_weighted.");
}

/// Parses "order", "random", or "random:7" with a seed. Empty if the network has too few places,
/// which the simulator then reports.
std::vector<Rank> parse_places(const std::string& text, std::uint32_t ranks,
                               const Network& network) {
  if (text == "order") return {};
  std::uint64_t seed = 1;
  if (text != "random") {
    const std::string_view rest =
        std::string_view(text).substr(std::min<std::size_t>(7, text.size()));
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), seed);
    const bool sound = error == std::errc{} && end == rest.data() + rest.size();
    if (text.rfind("random:", 0) != 0 || !sound) {
      reject("'" + text +
             "' is no way to place ranks; write order, random, or random:7 for a seed");
    }
  }
  if (ranks > network.rank_count()) return {};
  std::vector<Rank> places;
  for (std::uint32_t r = 0; r < network.rank_count(); ++r) places.emplace_back(r);
  std::mt19937_64 random(seed);
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random() % i]);
  places.resize(ranks);
  return places;
}

}  // namespace

void SimOptions::add(Command command) {
  command.option("names", names, "algorithms, or a collective");
  command.option("--file", file, "a schedule as JSON instead; - is standard input");
  problem.add(command);
  command.option("--topo", topo, "the network: fat_tree:k=8, torus:16x16, or a file").required();
  command.option("--size", size, "bytes of a rank's larger buffer").shows_default();
  command.option("--alpha", alpha, "seconds per message, in addition to the latencies of links")
      .shows_default();
  command.option("--gamma", gamma, "seconds per byte added, or a rate: 0, 0.05ns, 20GB/s")
      .shows_default();
  command.option("--ports", ports, "messages in and out of a rank at once; 0: any number")
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
      .option("--place", place, "how ranks are placed on the network: order, random, random:SEED")
      .shows_default();
  command.option("--noise", noise, "average relative delay of messages and sums")
      .shows_default()
      .not_negative();
  command.option("--seed", seed, "seed of the noise and of ecmp routes").shows_default();
  command.flag("--every-rank", every_rank, "simulate every rank even if all do the same");
}

SimNetwork::SimNetwork(const SimOptions& options)
    : network_(load_network(options.topo)),
      route_options_{.policy = parse_route_policy(options.routes), .seed = options.seed} {
  const std::optional<Optimum> best = known_optimum(network_).optimum;
  if (!best) return;
  gather_ = best->allgather.value();
  reduce_ = best->reduce_scatter.value();
  all_reduce_ = best->allreduce.value();
}

std::optional<double> SimNetwork::part_of_optimum(const Contract& contract, std::uint64_t size,
                                                  double seconds) const {
  if (contract.ranks != network_.rank_count() || seconds <= 0) return {};
  std::optional<double> best;
  if (contract.collective == Collective::allgather) best = gather_;
  if (contract.collective == Collective::reduce_scatter) best = reduce_;
  if (contract.collective == Collective::allreduce) best = all_reduce_;
  if (!best) return {};
  return static_cast<double>(size) / seconds / *best;
}

SimulationSettings settings_of(const SimOptions& options, std::uint32_t ranks,
                               const Network& network) {
  return {.alpha = parse_seconds(options.alpha),
          .gamma = parse_seconds_per_byte(options.gamma),
          .ports = options.ports,
          .slice = parse_bytes(options.slice),
          .sharing = parse_sharing(options.sharing),
          .places = parse_places(options.place, ranks, network),
          .noise = options.noise,
          .seed = options.seed,
          .symmetry = !options.every_rank};
}

ScheduleSource source_of(const Algorithm& algorithm, const Problem& problem) {
  return {.name = std::string(algorithm.name),
          .contract = algorithm.contract(problem),
          .program = [&algorithm, problem](Rank rank) { return algorithm.program(problem, rank); },
          .one_rule = true};
}

}  // namespace tutti::cli
