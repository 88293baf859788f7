#include "select/forecast.hpp"

#include <algorithm>
#include <cmath>

#include <tutti/sim/simulation.hpp>

namespace tutti {
namespace {

/// The position of x between two neighbours of a sorted list; low == high if x is outside.
struct Between {
  std::size_t low;
  std::size_t high;
  double share;  // 0 at low, 1 at high.
};

/// Interpolates in the logarithm of sizes and numbers of ranks.
template <class List, class Key>
Between place(const List& list, std::uint64_t x, Key key) {
  const auto above =
      std::lower_bound(list.begin(), list.end(), x,
                       [&](const auto& each, std::uint64_t value) { return key(each) < value; });
  const auto high = static_cast<std::size_t>(above - list.begin());
  if (high == 0) return {.low = 0, .high = 0, .share = 0};
  if (high == list.size()) return {.low = high - 1, .high = high - 1, .share = 0};
  const auto logarithm = [](std::uint64_t value) {
    return std::log(static_cast<double>(std::max<std::uint64_t>(value, 1)));
  };
  const double from = logarithm(key(list[high - 1]));
  const double to = logarithm(key(list[high]));
  return {
      .low = high - 1, .high = high, .share = to > from ? (logarithm(x) - from) / (to - from) : 0};
}

/// Pricing larger schedules message by message takes too long while a call waits.
constexpr std::uint32_t most_priced_ranks = 256;

}  // namespace

Forecast::Forecast(const Profile& profile, const Party& party)
    : profile_(&profile), party_(party), reach_(&profile.at(party.reach, party.ranks)) {
  if (party_.network) routes_ = std::make_unique<Routes>(*party_.network);
  for (const Measurement& each : profile.measurements) {
    if (each.reach == reach_->reach) add(each);
  }
  for (auto& [identity, curves] : curves_) {
    std::sort(curves.begin(), curves.end(),
              [](const Curve& a, const Curve& b) { return a.ranks < b.ranks; });
  }
}

void Forecast::add(const Measurement& measurement) {
  const Method used = measurement.method();
  const Problem problem = measurement.problem();
  if (!used.refusal(problem).empty()) return;
  Curve curve{.ranks = measurement.ranks, .factors = {}};
  for (const Measurement::Point& point : measurement.points) {
    const Effort needed = effort(used, problem, point.bytes, measurement.cores);
    const double modelled = reach_->model_for(used.collective()).seconds(needed, point.bytes);
    if (modelled > 0) {
      curve.factors.push_back({.bytes = point.bytes, .log = std::log(point.seconds / modelled)});
    }
  }
  if (curve.factors.empty()) return;
  std::uint64_t& largest = largest_[{used.collective(), curve.ranks}];
  largest = std::max(largest, curve.factors.back().bytes);
  curves_[used.identity()].push_back(std::move(curve));
}

bool Forecast::is_given_up(Collective collective, const Curve& curve, std::uint64_t bytes) const {
  const std::uint64_t last = curve.factors.back().bytes;
  return bytes > last && last < largest_.at({collective, curve.ranks});
}

Expectation Forecast::expect(const Method& method, const Problem& problem,
                             std::uint64_t bytes) const {
  Expectation expected;
  expected.modelled = price(method, problem, bytes);
  expected.seconds = expected.modelled;
  const auto found = curves_.find(method.identity());
  if (found == curves_.end() || party_.is_mixed() || party_.network) return expected;
  const std::vector<Curve>& curves = found->second;
  const auto factor_of = [&](const Curve& curve) {
    const Between at =
        place(curve.factors, bytes, [](const Factor& factor) { return factor.bytes; });
    return std::lerp(curve.factors[at.low].log, curve.factors[at.high].log, at.share);
  };
  const Between at = place(curves, party_.ranks, [](const Curve& curve) { return curve.ranks; });
  const double factor = std::lerp(factor_of(curves[at.low]), factor_of(curves[at.high]), at.share);
  expected.seconds = expected.modelled * std::exp(factor);
  expected.measured = true;
  expected.given_up = is_given_up(method.collective(), curves[at.low], bytes) ||
                      is_given_up(method.collective(), curves[at.high], bytes);
  return expected;
}

double Forecast::price(const Method& method, const Problem& problem, std::uint64_t bytes) const {
  if (party_.network) return simulated(method, problem, bytes);
  if (!party_.is_mixed() || party_.ranks > most_priced_ranks) {
    return reach_->model_for(method.collective())
        .seconds(effort(method, problem, bytes, party_.cores), bytes);
  }
  const ReachProfile& inside = profile_->at({.pairs = Pairs::host, .crowded = party_.reach.crowded},
                                            party_.hosts.dimensions[0]);
  const CostModel model{.link = reach_->link,
                        .gamma = reach_->gamma,
                        .ranks_per_node = party_.hosts.dimensions[0],
                        .inside = inside.link};
  const Schedule schedule = method.build(problem);
  return Pricer(schedule).price(even_layout(schedule.contract, bytes), model, Ports::one).seconds;
}

double Forecast::simulated(const Method& method, const Problem& problem,
                           std::uint64_t bytes) const {
  const ScheduleSource source = method.source(problem);
  // No port limit: the links of the network limit what enters and leaves a rank.
  return simulate(
             *party_.network, *routes_, source, even_layout(source.contract, bytes),
             {.gamma = party_.gamma.value_or(reach_->gamma), .ports = 0, .places = party_.places})
      .seconds;
}

Shape natural_shape(const Network& network) {
  if (const auto* const torus = std::get_if<wiring::Torus>(&network.wiring)) {
    return {.dimensions = torus->dimensions};
  }
  if (const auto* const rails = std::get_if<wiring::Rails>(&network.wiring)) {
    return {.dimensions = {rails->ranks, rails->hosts}};
  }
  // The host to which each rank is linked.
  std::unordered_map<std::uint32_t, NodeId> host_of;
  for (const Link& link : network.links) {
    if (network[link.from].kind == NodeKind::rank && network[link.to].kind == NodeKind::host) {
      host_of.emplace(link.from.index(), link.to);
    }
  }
  std::vector<NodeId> hosts;
  for (const NodeId rank : network.ranks) {
    const auto found = host_of.find(rank.index());
    if (found == host_of.end()) return {};
    hosts.push_back(found->second);
  }
  const auto each = static_cast<std::uint32_t>(
      std::find_if(hosts.begin(), hosts.end(), [&](NodeId host) { return host != hosts.front(); }) -
      hosts.begin());
  const auto ranks = static_cast<std::uint32_t>(hosts.size());
  if (ranks % each != 0) return {};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const bool first = r % each == 0;
    if (first ? r > 0 && hosts[r] == hosts[r - 1] : hosts[r] != hosts[r - 1]) return {};
  }
  return {.dimensions = {each, ranks / each}};
}

}  // namespace tutti
