#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/schedule/algebra.hpp>
#include <tutti/synthesis/synthesis.hpp>

#include "core/nearest.hpp"
#include "synthesis/direct.hpp"
#include "synthesis/exhaustive.hpp"
#include "synthesis/greedy.hpp"
#include "synthesis/pipeline.hpp"
#include "synthesis/rank_network.hpp"
#include "synthesis/translated_trees.hpp"
#include "synthesis/tree_packing.hpp"

namespace tutti {
namespace {

using namespace synthesis;

constexpr std::array<std::pair<SynthesisMethod, std::string_view>, 4> method_names{
    {{SynthesisMethod::automatic, "automatic"},
     {SynthesisMethod::packing, "packing"},
     {SynthesisMethod::greedy, "greedy"},
     {SynthesisMethod::exhaustive, "exhaustive"}}};

/// The distribution of data from every source to all ranks, and how it was found.
struct Found {
  Distribution distribution{};
  SynthesisMethod method = SynthesisMethod::greedy;
  std::uint32_t trees = 0;
  bool direct = false;
  double best_seconds = 0;
};

/// Finds a distribution on a network or, for reductions, on the network turned round.
class Search {
 public:
  Search(const Network& network, bool reversed, std::optional<Rank> root,
         const SynthesisOptions& options, const Pace& pace)
      : network_(network),
        sending_{.network = network, .reversed = reversed},
        options_(options),
        pace_(pace) {
    if (root) {
      sending_.sources = {*root};
      bytes_ = static_cast<double>(options.bytes);
    } else {
      sending_.sources.resize(network.rank_count());
      std::iota(sending_.sources.begin(), sending_.sources.end(), 0);
      bytes_ = static_cast<double>(options.bytes) / network.rank_count();
    }
    bytes_ = std::max(bytes_, 1.0);
  }

  [[nodiscard]] Found run() {
    const std::uint32_t n = network_.rank_count();
    constexpr std::uint32_t least_trees = 16;
    constexpr std::uint32_t work = 2048;
    const bool count_trees = options_.method != SynthesisMethod::greedy;
    ranks_ =
        rank_network(sending_, std::min(96U, std::max(least_trees, work / n)), count_trees, pace_);
    const double best = bytes_ / ranks_.best_rate;
    Found found = find();
    found.best_seconds = best;
    return found;
  }

  /// The paths of the edges, in the direction in which messages travel.
  void add_routes(
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<LinkId>>& routes) const {
    for (const RankEdge& edge : ranks_.graph.edges) {
      std::vector<LinkId> links = edge.strands.front().links;
      if (sending_.reversed) std::reverse(links.begin(), links.end());
      routes.emplace(
          sending_.reversed ? std::pair(edge.to, edge.from) : std::pair(edge.from, edge.to),
          std::move(links));
    }
  }

 private:
  [[nodiscard]] Found find() {
    if (options_.method == SynthesisMethod::exhaustive) return by_exhaustion();
    if (options_.method != SynthesisMethod::greedy) {
      if (std::optional<Found> found = by_direct()) return *found;
    }
    if (options_.method == SynthesisMethod::greedy) return by_greedy();
    std::optional<Found> packed = by_packing();
    if (packed && options_.method == SynthesisMethod::packing) return *packed;
    constexpr double enough = 1.01;
    if (packed && packed->distribution.seconds <= enough * bytes_ / ranks_.best_rate)
      return *packed;
    // The greedy does not know that edges through switches share links: it promises too much there.
    const bool has_switches = network_.nodes.size() > network_.ranks.size();
    if (packed && has_switches) return *packed;
    Found other = by_greedy();
    if (packed && packed->distribution.seconds <= other.distribution.seconds) return *packed;
    return other;
  }

  /// Where sending to everyone at once already reaches the best rate, nothing beats it.
  [[nodiscard]] std::optional<Found> by_direct() const {
    constexpr std::uint32_t most_ranks = 512;
    constexpr double close = 0.9995;
    const std::uint32_t n = network_.rank_count();
    if (sending_.sources.size() != n || n > most_ranks || options_.chunks > 1) return {};
    const double rate = direct_rate(network_, sending_.reversed);
    if (rate < close * ranks_.best_rate) return {};
    Found found{
        .distribution = direct(n), .method = SynthesisMethod::packing, .trees = 1, .direct = true};
    found.distribution.seconds = bytes_ / rate;
    return found;
  }

  [[nodiscard]] std::optional<Found> by_packing() const {
    std::optional<std::vector<Tree>> trees;
    const auto* const torus = std::get_if<wiring::Torus>(&network_.wiring);
    if (torus != nullptr && sending_.sources.size() == network_.rank_count()) {
      trees = translated_trees(ranks_.graph, torus->dimensions, ranks_.trees);
    }
    if (!trees) trees = TreePacking(ranks_.graph, sending_.sources, ranks_.trees).run(pace_);
    if (!trees) return {};
    const Portion portion{.bytes = bytes_,
                          .trees = ranks_.trees,
                          .pieces = (options_.chunks + ranks_.trees - 1) / ranks_.trees,
                          .reduces = sending_.reversed,
                          .best_seconds = bytes_ / ranks_.best_rate};
    return Found{.distribution = pipeline(ranks_.graph, *trees, portion, pace_),
                 .method = SynthesisMethod::packing,
                 .trees = ranks_.trees};
  }

  [[nodiscard]] Found by_exhaustion() const {
    const FewestRounds task{
        .origins = sending_.sources, .chunks = std::max(1U, options_.chunks), .bytes = bytes_};
    std::optional<Distribution> found = fewest_rounds(ranks_.graph, task, pace_);
    if (!found) {
      throw Error(ErrorCode::unsupported,
                  "the exhaustive search did not end within the time limit: use fewer chunks, a "
                  "longer limit, or another method");
    }
    return {.distribution = std::move(*found), .method = SynthesisMethod::exhaustive};
  }

  [[nodiscard]] Found by_greedy() const {
    GreedyTask task{.origins = sending_.sources,
                    .bytes = bytes_,
                    .chunks = std::max(1U, options_.chunks),
                    .seed = options_.seed};
    Found found{.distribution = greedy(ranks_.graph, task, pace_)};
    if (options_.chunks > 0) return found;
    // More chunks as long as it pays.
    constexpr std::size_t most_transfers = 400'000;
    constexpr double worthwhile = 0.99;
    while (true) {
      task.chunks *= 2;
      const std::size_t transfers =
          std::size_t{task.chunks} * task.origins.size() * (network_.rank_count() - 1);
      if (transfers > most_transfers || pace_.is_over()) return found;
      Distribution next = greedy(ranks_.graph, task, pace_);
      if (next.seconds > worthwhile * found.distribution.seconds) return found;
      found.distribution = std::move(next);
    }
  }

  const Network& network_;
  Sending sending_;
  const SynthesisOptions& options_;
  const Pace& pace_;
  double bytes_ = 1;  // Of one source.
  RankNetwork ranks_{};
};

/// Makes each chunk into `width` chunks.
Program widened(const Program& program, std::uint64_t width, std::uint32_t ranks,
                std::uint64_t chunks) {
  if (width == 1) return program;
  return embed(
      program, {.modulus = ranks},
      {.stride = static_cast<std::int64_t>(width), .modulus = chunks * width, .width = width});
}

class Synthesizer {
 public:
  Synthesizer(const Network& network, Collective collective, const SynthesisOptions& options)
      : network_(network),
        collective_(collective),
        options_(options),
        pace_(options.seconds, options.progress) {}

  [[nodiscard]] Synthesis run() {
    Synthesis made;
    if (collective_ == Collective::allreduce) {
      allreduce(made);
    } else {
      const bool reduces = is_reduction(collective_);
      std::optional<Rank> root;
      if (has_root(collective_)) root = options_.root;
      Search search(network_, reduces, root, options_, pace_);
      const Found found = search.run();
      take(made, found);
      contract(made, found.distribution.chunks * (root ? 1 : network_.rank_count()));
      made.schedule.programs = programs(found, reduces);
      if (!found.direct) search.add_routes(routes_);
    }
    made.schedule.name = std::string(name(collective_)) + "/" + std::string(name(made.method)) +
                         " for " + network_.name;
    keep_routes(made);
    return made;
  }

 private:
  /// Programs of a distribution, or of the reduction that is its dual.
  [[nodiscard]] std::vector<Program> programs(const Found& found, bool reduces) const {
    std::vector<Program> all = programs_of(found.distribution, network_.rank_count());
    if (!reduces) return all;
    const Collective forward =
        collective_ == Collective::reduce ? Collective::broadcast : Collective::allgather;
    for (std::uint32_t r = 0; r < all.size(); ++r) all[r] = dual(all[r], forward, r);
    return all;
  }

  void take(Synthesis& made, const Found& found) const {
    made.method = found.method;
    made.trees = std::max(made.trees, found.trees);
    made.direct = found.direct;
    made.best_seconds += found.best_seconds;
    made.predicted_seconds += found.distribution.seconds;
  }

  void contract(Synthesis& made, std::uint64_t chunks) const {
    made.schedule.contract = {.collective = collective_,
                              .ranks = network_.rank_count(),
                              .root = has_root(collective_) ? options_.root : Rank{},
                              .chunks = chunks};
  }

  void allreduce(Synthesis& made) {
    const std::uint32_t n = network_.rank_count();
    Search gather(network_, false, {}, options_, pace_);
    const Found spread = gather.run();
    if (!spread.direct) gather.add_routes(routes_);
    Search reduce(network_, true, {}, options_, pace_);
    const Found collect = reduce.run();
    if (!collect.direct) reduce.add_routes(routes_);
    take(made, collect);
    take(made, spread);
    const std::uint32_t chunks = std::lcm(spread.distribution.chunks, collect.distribution.chunks);
    contract(made, std::uint64_t{n} * chunks);
    const std::vector<Program> first = programs(collect, true);
    const std::vector<Program> second = programs(spread, false);
    for (std::uint32_t r = 0; r < n; ++r) {
      made.schedule.programs.push_back(
          then(widened(first[r], chunks / collect.distribution.chunks, n,
                       std::uint64_t{n} * collect.distribution.chunks),
               widened(second[r], chunks / spread.distribution.chunks, n,
                       std::uint64_t{n} * spread.distribution.chunks)));
    }
  }

  /// No routes at all if the network would choose the same.
  void keep_routes(Synthesis& made) const {
    if (routes_.empty()) return;
    Routes usual(network_);
    const bool same = std::all_of(routes_.begin(), routes_.end(), [&](const auto& each) {
      return usual.between(each.first.first, each.first.second) == each.second;
    });
    if (same) return;
    for (const auto& [pair, links] : routes_) {
      made.routes.push_back({.from = pair.first, .to = pair.second, .links = links});
    }
  }

  const Network& network_;
  Collective collective_;
  const SynthesisOptions& options_;
  Pace pace_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<LinkId>> routes_;
};

void refuse(ErrorCode code, const std::string& why) { throw Error(code, why); }

void check(const Network& network, Collective collective, const SynthesisOptions& options) {
  const bool known = collective == Collective::broadcast || collective == Collective::reduce ||
                     collective == Collective::allgather ||
                     collective == Collective::reduce_scatter ||
                     collective == Collective::allreduce;
  if (!known) {
    refuse(ErrorCode::unsupported,
           "schedules are synthesized for broadcast, reduce, allgather, reduce_scatter and "
           "allreduce, not for " +
               std::string(name(collective)));
  }
  network.check();
  const std::uint32_t n = network.rank_count();
  if (n < 2) refuse(ErrorCode::invalid_argument, "one rank alone has nothing to send: add ranks");
  if (options.root >= n) {
    refuse(ErrorCode::invalid_argument, "there is no rank " + std::to_string(options.root) +
                                            " in a network of " + std::to_string(n) + " ranks");
  }
  constexpr std::size_t most_ranks = 1024;
  constexpr std::size_t most_links = 200'000;
  if (n > most_ranks || network.nodes.size() > 4 * most_ranks ||
      network.links.size() > most_links) {
    refuse(ErrorCode::unsupported,
           "this network is too large to synthesize a schedule for: it has " + std::to_string(n) +
               " ranks and " + std::to_string(network.links.size()) + " links; the limits are " +
               std::to_string(most_ranks) + " and " + std::to_string(most_links));
  }
}

}  // namespace

std::string_view name(SynthesisMethod method) {
  for (const auto& [each, text] : method_names) {
    if (each == method) return text;
  }
  return "";
}

SynthesisMethod parse_synthesis_method(std::string_view text) {
  std::vector<std::string_view> names;
  for (const auto& [each, known] : method_names) {
    if (known == text) return each;
    names.push_back(known);
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no method '" + std::string(text) +
                  "' of synthesis; there are automatic, packing, greedy and exhaustive." +
                  did_you_mean(text, names));
}

Synthesis synthesize(const Network& network, Collective collective,
                     const SynthesisOptions& options) {
  check(network, collective, options);
  return Synthesizer(network, collective, options).run();
}

}  // namespace tutti
