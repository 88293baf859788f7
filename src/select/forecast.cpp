#include "select/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <set>

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

}  // namespace

Forecast::Forecast(const Profile& profile, const Party& party)
    : profile_(&profile),
      party_(party),
      reach_(&profile.at(party.reach, party.ranks)),
      knowledge_(std::make_unique<Knowledge[]>(collective_count)) {
  if (party_.network) routes_ = std::make_unique<Routes>(*party_.network);
  for (const Measurement& each : profile.measurements) {
    if (each.reach != reach_->reach || each.points.empty()) continue;
    const Method used = each.method();
    if (!used.refusal(each.problem()).empty()) continue;
    Knowledge& known = knowledge(used.collective());
    known.measurements[used.identity()].push_back(&each);
    std::uint64_t& largest = known.largest[each.ranks];
    largest = std::max(largest, each.points.back().bytes);
  }
  for (const Collective each : collectives()) {
    Knowledge& known = knowledge(each);
    const auto rows = algorithms(each);
    const auto measured = std::ranges::count_if(rows, [&](const Algorithm& row) {
      return known.measurements.contains(Method(row).identity());
    });
    const auto measurable =
        std::ranges::count_if(rows, [](const Algorithm& row) { return !row.needs_shape(); });
    known.is_known = measured > 0 && 2 * measured >= measurable;
  }
}

/// Null if the method was not measured.
const std::vector<Forecast::Curve>* Forecast::curves(const Method& method) const {
  Knowledge& known = knowledge(method.collective());
  std::call_once(known.computed, [&] {
    for (auto& [identity, list] : known.measurements) {
      std::ranges::stable_sort(list, {}, &Measurement::ranks);
      const Between at =
          place(list, party_.ranks, [](const Measurement* each) { return each->ranks; });
      std::vector<Curve> found{curve(*list[at.low])};
      if (at.high != at.low) found.push_back(curve(*list[at.high]));
      std::erase_if(found, [](const Curve& each) { return each.factors.empty(); });
      if (!found.empty()) known.curves.emplace(identity, std::move(found));
    }
  });
  const auto found = known.curves.find(method.identity());
  return found == known.curves.end() ? nullptr : &found->second;
}

Forecast::Curve Forecast::curve(const Measurement& measurement) const {
  const Method used = measurement.method();
  Curve curve{.ranks = measurement.ranks, .factors = {}};
  for (const Measurement::Point& point : measurement.points) {
    const Effort needed = effort(used, measurement.problem(), point.bytes, measurement.cores);
    const double modelled = reach_->model_for(used.collective()).seconds(needed, point.bytes);
    if (modelled > 0) {
      curve.factors.push_back({.bytes = point.bytes, .log = std::log(point.seconds / modelled)});
    }
  }
  return curve;
}

bool Forecast::is_given_up(Collective collective, const Curve& curve, std::uint64_t bytes) const {
  const std::uint64_t last = curve.factors.back().bytes;
  return bytes > last && last < knowledge(collective).largest.at(curve.ranks);
}

bool Forecast::is_untried(const Method& method) const {
  if (party_.is_mixed() || party_.network || method.algorithm() == nullptr) return false;
  const Knowledge& known = knowledge(method.collective());
  return known.is_known && !known.measurements.contains(method.identity());
}

Expectation Forecast::expect(const Method& method, const Problem& problem,
                             std::uint64_t bytes) const {
  Expectation expected;
  expected.modelled = price(method, problem, bytes);
  expected.seconds = expected.modelled;
  expected.untried = is_untried(method);
  if (party_.is_mixed() || party_.network) return expected;
  const std::vector<Curve>* const found = curves(method);
  if (found == nullptr) return expected;
  const auto factor_of = [&](const Curve& curve) {
    const Between at =
        place(curve.factors, bytes, [](const Factor& factor) { return factor.bytes; });
    return std::lerp(curve.factors[at.low].log, curve.factors[at.high].log, at.share);
  };
  const Between at = place(*found, party_.ranks, [](const Curve& curve) { return curve.ranks; });
  const Curve& low = (*found)[at.low];
  const Curve& high = (*found)[at.high];
  const double factor = std::lerp(factor_of(low), factor_of(high), at.share);
  expected.seconds = expected.modelled * std::exp(factor);
  expected.measured = true;
  expected.given_up =
      is_given_up(method.collective(), low, bytes) || is_given_up(method.collective(), high, bytes);
  return expected;
}

Flows Forecast::flows(const Method& method, const Problem& problem, std::uint64_t bytes) const {
  const Effort needed = effort(method, problem, bytes, party_.cores);
  const auto peers = [&](Rank rank) {
    std::set<std::uint32_t> found;
    for (const Step step : method.program(problem, rank)) {
      if (step.kind != Step::Kind::send) continue;
      for (const Rank peer : step.peers) found.insert(peer);
    }
    return found.size();
  };
  const Rank next{(problem.root + 1) % problem.ranks};
  return {.at_once = needed.counts[Effort::messages] / std::max(needed.counts[Effort::rounds], 1.0),
          .peers = std::max(peers(problem.root), peers(next))};
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

std::uint64_t simulated_slice(const ScheduleSource& source, const Layout& layout,
                              std::uint64_t slice) {
  // A decision must not keep a call waiting. Beyond this many messages, slices are longer.
  constexpr std::uint64_t most_messages = 1U << 12;
  constexpr std::uint32_t most_counted_ranks = 1024;
  if (slice == 0 || source.contract.ranks > most_counted_ranks) return 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t r = 0; r < source.contract.ranks; ++r) {
    for (const Step step : source.program(r)) {
      if (step.kind != Step::Kind::send) continue;
      messages += step.peers.size();
      for (const ChunkRange& range : step.chunks) bytes += layout.size(range) * step.peers.size();
    }
  }
  if (messages >= most_messages) return 0;
  // Each message has one slice that is not full.
  return std::max(slice, bytes / (most_messages - messages) + 1);
}

double Forecast::simulated(const Method& method, const Problem& problem,
                           std::uint64_t bytes) const {
  const ScheduleSource source = method.source(problem);
  const Layout layout = even_layout(source.contract, bytes);
  // No port limit: the links of the network limit what enters and leaves a rank.
  return simulate(
             *party_.network, *routes_, source, layout,
             {.gamma = party_.gamma.value_or(reach_->gamma),
              .ports = 0,
              .slice = simulated_slice(
                  source, layout,
                  party_.slice_bytes != 0 ? party_.slice_bytes : reach_->thresholds.slice_bytes),
              .places = party_.places})
      .seconds;
}

}  // namespace tutti
