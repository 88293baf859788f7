#include "synthesis/rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tutti::synthesis {

Capacities::Capacities(std::span<const Arc> arcs, Demand demand)
    : demand_(std::move(demand)), flow_(demand_.nodes + 1) {
  // Powers of two keep whole bandwidths whole. The rest of 128 bits is left for products.
  double widest = 0;
  for (const Arc& arc : arcs) widest = std::max(widest, arc.bytes_per_second);
  int exponent = 0;
  std::frexp(widest, &exponent);
  constexpr int bits = 52;
  const int shift = bits - exponent;
  std::uint64_t divisor = 0;
  for (const Arc& arc : arcs) {
    units_.push_back(static_cast<std::uint64_t>(std::ldexp(arc.bytes_per_second, shift)));
    if (units_.back() == 0) {
      throw Error(ErrorCode::unsupported,
                  "the bandwidths of this network differ by a factor of more than 10^15: leave out "
                  "its slowest links");
    }
    divisor = std::gcd(divisor, units_.back());
    from_.push_back(arc.from);
    to_.push_back(arc.to);
    flow_.add_arc(arc.from, arc.to);
  }
  divisor = std::max<std::uint64_t>(divisor, 1);
  for (std::uint64_t& each : units_) each /= divisor;
  unit_ = std::ldexp(static_cast<double>(divisor), -shift);
  for (const std::uint32_t source : demand_.sources) flow_.add_arc(demand_.nodes, source);
}

Wide Capacities::flow_to(std::uint32_t sink) { return flow_.run(demand_.nodes, sink); }

/// All nodes but one sink: often the tightest cut already.
void Capacities::begin_with_single_sinks(Rate& rate) const {
  std::vector<Wide> into(demand_.nodes);
  for (std::size_t i = 0; i < units_.size(); ++i) into[to_[i]] += units_[i];
  bool first = true;
  for (const std::uint32_t sink : demand_.sinks) {
    const bool is_source =
        std::find(demand_.sources.begin(), demand_.sources.end(), sink) != demand_.sources.end();
    const Wide others = demand_.sources.size() - (is_source ? 1 : 0);
    if (others == 0) continue;
    if (first || into[sink] * rate.below < rate.above * others) {
      rate.above = into[sink];
      rate.below = others;
    }
    first = false;
  }
}

Rate Capacities::best_rate(const Pace& pace) {
  Rate rate{.unit = unit_};
  begin_with_single_sinks(rate);
  std::vector<bool> inside(demand_.nodes);
  for (std::size_t s = 0; s < demand_.sinks.size(); ++s) {
    pace.report(0);
    while (true) {
      const auto arcs = static_cast<std::uint32_t>(units_.size());
      for (std::uint32_t i = 0; i < arcs; ++i) flow_.set_capacity(i, rate.below * units_[i]);
      for (std::uint32_t i = 0; i < demand_.sources.size(); ++i) {
        flow_.set_capacity(arcs + i, rate.above);
      }
      if (flow_to(demand_.sinks[s]) == rate.above * demand_.sources.size()) break;
      for (std::uint32_t i = 0; i < demand_.nodes; ++i) inside[i] = flow_.on_source_side(i);
      rate.above = 0;
      rate.below = 0;
      for (const std::uint32_t source : demand_.sources) rate.below += inside[source] ? 1 : 0;
      for (std::uint32_t i = 0; i < arcs; ++i) {
        if (inside[from_[i]] && !inside[to_[i]]) rate.above += units_[i];
      }
    }
  }
  return rate;
}

std::vector<std::int64_t> Capacities::whole(const Rate& rate, std::uint32_t trees,
                                            double part) const {
  constexpr std::uint64_t fine = std::uint64_t{1} << 20;
  // A little more than the exact quotient, against rounding.
  const auto stretch = static_cast<std::uint64_t>(std::llround(static_cast<double>(fine) / part));
  std::vector<std::int64_t> whole;
  whole.reserve(units_.size());
  for (const std::uint64_t each : units_) {
    const Wide above = Wide{each} * trees * rate.below;
    whole.push_back(static_cast<std::int64_t>(above / rate.above * stretch / fine +
                                              above % rate.above * stretch / fine / rate.above));
  }
  return whole;
}

bool Capacities::have_room(std::span<const std::int64_t> whole, std::uint32_t trees) {
  const auto arcs = static_cast<std::uint32_t>(units_.size());
  for (const std::uint32_t sink : demand_.sinks) {
    for (std::uint32_t i = 0; i < arcs; ++i) {
      flow_.set_capacity(i, static_cast<Wide>(whole[i]));
    }
    for (std::uint32_t i = 0; i < demand_.sources.size(); ++i) flow_.set_capacity(arcs + i, trees);
    if (flow_to(sink) != Wide{trees} * demand_.sources.size()) return false;
  }
  return true;
}

TreeCount choose_tree_count(Capacities& capacities, const Rate& rate, std::uint32_t most,
                            const Pace& pace) {
  constexpr std::array<double, 10> parts{1, 0.998, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5};
  for (const double part : parts) {
    for (std::uint32_t trees = 1; trees <= most; ++trees) {
      pace.report(0);
      TreeCount found{
          .trees = trees, .part = part, .capacities = capacities.whole(rate, trees, part)};
      if (capacities.have_room(found.capacities, trees)) return found;
    }
  }
  // At a small enough share every arc that carries anything carries one tree.
  for (double part = 0.25;; part /= 2) {
    TreeCount found{.trees = 1, .part = part, .capacities = capacities.whole(rate, 1, part)};
    if (capacities.have_room(found.capacities, 1)) return found;
  }
}

}  // namespace tutti::synthesis
