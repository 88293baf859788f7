#include "synthesis/switch_removal.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::synthesis {

SwitchRemoval::SwitchRemoval(std::span<const Arc> arcs, std::span<const std::int64_t> capacities,
                             const Demand& demand, std::uint32_t trees)
    : sinks_(demand.sinks), stays_(demand.nodes, false), ends_(demand.nodes) {
  for (const std::uint32_t sink : sinks_) stays_[sink] = true;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    if (capacities[i] == 0) continue;
    Edge& edge = arcs_[arc(arcs[i].from, arcs[i].to)];
    edge.capacity += capacities[i];
    edge.strands.push_back(
        {.links = {LinkId{static_cast<std::uint32_t>(i)}}, .amount = capacities[i]});
  }
  store_flows(arcs, demand, trees);
}

std::uint32_t SwitchRemoval::arc(std::uint32_t from, std::uint32_t to) {
  for (const std::uint32_t each : ends_[from].out) {
    if (arcs_[each].to == to) return each;
  }
  const auto index = static_cast<std::uint32_t>(arcs_.size());
  arcs_.push_back({.from = from, .to = to});
  ends_[from].out.push_back(index);
  ends_[to].in.push_back(index);
  for (auto& flow : flows_) flow.push_back(0);
  return index;
}

/// For each sink a flow that brings it the trees of all sources. Splitting keeps these flows valid,
/// which proves that the trees still fit.
void SwitchRemoval::store_flows(std::span<const Arc> arcs, const Demand& demand,
                                std::uint32_t trees) {
  const bool has_switches =
      std::any_of(arcs.begin(), arcs.end(), [&](const Arc& arc) { return !stays_[arc.from]; });
  if (!has_switches) return;
  MaxFlow flow(demand.nodes + 1);
  for (const Edge& each : arcs_) flow.add_arc(each.from, each.to);
  for (const std::uint32_t source : demand.sources) flow.add_arc(demand.nodes, source);
  const auto count = static_cast<std::uint32_t>(arcs_.size());
  for (const std::uint32_t sink : sinks_) {
    for (std::uint32_t i = 0; i < count; ++i) {
      flow.set_capacity(i, static_cast<Wide>(arcs_[i].capacity));
    }
    for (std::uint32_t i = 0; i < demand.sources.size(); ++i) flow.set_capacity(count + i, trees);
    if (flow.run(demand.nodes, sink) != Wide{trees} * demand.sources.size()) lossy_ = true;
    auto& stored = flows_.emplace_back();
    for (std::uint32_t i = 0; i < count; ++i) {
      stored.push_back(static_cast<std::int64_t>(flow.flow(i)));
    }
  }
}

void SwitchRemoval::run(const Pace& pace) {
  std::vector<std::uint32_t> switches;
  for (std::uint32_t node = 0; node < stays_.size(); ++node) {
    if (!stays_[node]) switches.push_back(node);
  }
  // Few arcs first: they make few new ones.
  const auto size = [&](std::uint32_t node) {
    return ends_[node].in.size() + ends_[node].out.size();
  };
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const auto rest = switches.begin() + static_cast<std::ptrdiff_t>(i);
    std::iter_swap(rest, std::min_element(rest, switches.end(),
                                          [&](auto a, auto b) { return size(a) < size(b); }));
    remove(*rest, pace);
  }
}

void SwitchRemoval::remove(std::uint32_t node, const Pace& pace) {
  const std::vector<std::uint32_t> in = ends_[node].in;
  const std::vector<std::uint32_t> out = ends_[node].out;
  std::vector<Pair> unjoined;
  std::vector<Pair> joined;
  std::vector<Pair> loops;
  for (std::size_t o = 0; o < out.size(); ++o) {
    std::vector<Pair> apart;
    std::vector<Pair> again;
    for (const std::uint32_t each : in) {
      const Pair pair{.in = each, .out = out[o]};
      const std::uint32_t from = arcs_[each].from;
      const std::uint32_t to = arcs_[out[o]].to;
      if (from == to) {
        loops.push_back(pair);
      } else {
        (capacity_between(from, to) > 0 ? again : apart).push_back(pair);
      }
    }
    // Each arc out begins with another arc in, so that what is left over is spread evenly.
    for (auto* const list : {&apart, &again}) {
      if (list->empty()) continue;
      std::rotate(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(o % list->size()),
                  list->end());
    }
    unjoined.insert(unjoined.end(), apart.begin(), apart.end());
    joined.insert(joined.end(), again.begin(), again.end());
  }
  // Messages between two ranks take one path, so a second one comes later.
  for (const std::vector<Pair>* pairs : {&unjoined, &joined, &loops}) {
    while (split_evenly(*pairs, pace)) {
    }
  }
  drop_rest(node);
}

/// Splits off an equal share of every pair, so that every neighbour is joined to every other and
/// trees are shallow. False if no pair could be split off.
bool SwitchRemoval::split_evenly(const std::vector<Pair>& pairs, const Pace& pace) {
  pace.report(0);
  if (pace.is_late() && !flows_.empty()) {
    // Without the flows every pair can be split off, but the trees may no longer fit.
    flows_.clear();
    lossy_ = true;
  }
  std::vector<std::int64_t> partners(arcs_.size(), 0);
  const auto is_open = [&](const Pair& pair) {
    return arcs_[pair.in].capacity > 0 && arcs_[pair.out].capacity > 0;
  };
  for (const Pair& pair : pairs) {
    if (!is_open(pair)) continue;
    ++partners[pair.in];
    ++partners[pair.out];
  }
  bool any = false;
  for (const Pair& pair : pairs) {
    if (!is_open(pair)) continue;
    const std::int64_t share = std::min(arcs_[pair.in].capacity / partners[pair.in],
                                        arcs_[pair.out].capacity / partners[pair.out]);
    --partners[pair.in];
    --partners[pair.out];
    const std::int64_t most = std::min(arcs_[pair.in].capacity, arcs_[pair.out].capacity);
    any = split(pair.in, pair.out, std::min(most, std::max<std::int64_t>(1, share))) > 0 || any;
  }
  return any;
}

std::int64_t SwitchRemoval::capacity_between(std::uint32_t from, std::uint32_t to) const {
  for (const std::uint32_t each : ends_[from].out) {
    if (arcs_[each].to == to) return arcs_[each].capacity;
  }
  return 0;
}

void SwitchRemoval::drop_rest(std::uint32_t node) {
  for (const std::vector<std::uint32_t>* side : {&ends_[node].in, &ends_[node].out}) {
    for (const std::uint32_t each : *side) {
      if (arcs_[each].capacity == 0) continue;
      for (const auto& flow : flows_) lossy_ = lossy_ || flow[each] > 0;
      arcs_[each].capacity = 0;
      arcs_[each].strands.clear();
      for (auto& flow : flows_) flow[each] = 0;
    }
  }
}

/// Splits off as much of the pair as possible and returns the amount.
std::int64_t SwitchRemoval::split(std::uint32_t in, std::uint32_t out, std::int64_t wanted) {
  const std::uint32_t from = arcs_[in].from;
  const std::uint32_t to = arcs_[out].to;
  const std::uint32_t across = from == to ? none : arc(from, to);
  std::int64_t amount = wanted;
  for (bool again = true; again && amount > 0;) {
    again = false;
    saved_.clear();
    const std::int64_t before = across == none ? 0 : arcs_[across].capacity;
    arcs_[in].capacity -= amount;
    arcs_[out].capacity -= amount;
    if (across != none) arcs_[across].capacity += amount;
    for (std::uint32_t s = 0; s < flows_.size(); ++s) {
      const std::int64_t missing = missing_after(s, in, out, across, amount);
      if (missing == 0) continue;
      arcs_[in].capacity += amount;
      arcs_[out].capacity += amount;
      if (across != none) arcs_[across].capacity = before;
      for (std::uint32_t u = 0; u <= s; ++u) undo(u, in, out, across, before);
      for (auto& [sink, flow] : saved_) flows_[sink] = std::move(flow);
      amount -= std::max<std::int64_t>(1, std::min(missing, amount));
      again = true;
      break;
    }
  }
  if (amount > 0)
    join_strands(arcs_[in], arcs_[out], across == none ? nullptr : &arcs_[across], amount);
  return amount;
}

/// Makes the flow to a sink fit the new capacities. Returns how much does not fit.
std::int64_t SwitchRemoval::missing_after(std::uint32_t sink, std::uint32_t in, std::uint32_t out,
                                          std::uint32_t across, std::int64_t amount) {
  std::vector<std::int64_t>& flow = flows_[sink];
  const std::int64_t moved = std::min({flow[in], flow[out], amount});
  const bool fits =
      flow[in] - moved <= arcs_[in].capacity && flow[out] - moved <= arcs_[out].capacity;
  if (!fits) saved_.emplace_back(sink, flow);
  flow[in] -= moved;
  flow[out] -= moved;
  if (across != none) flow[across] += moved;
  std::int64_t missing = 0;
  for (const std::uint32_t each : {in, out}) {
    const std::int64_t excess = flow[each] - arcs_[each].capacity;
    if (excess <= 0) continue;
    // The excess takes another way between the ends of the arc.
    const std::int64_t found = reroute(flow, arcs_[each].from, arcs_[each].to, excess);
    flow[each] -= found;
    missing = std::max(missing, excess - found);
  }
  return missing;
}

/// Turns a flow that was only moved, not rerouted, into one for the old capacities.
void SwitchRemoval::undo(std::uint32_t sink, std::uint32_t in, std::uint32_t out,
                         std::uint32_t across, std::int64_t capacity_across) {
  if (across == none) return;
  std::vector<std::int64_t>& flow = flows_[sink];
  const std::int64_t too_much = flow[across] - capacity_across;
  if (too_much <= 0) return;
  flow[across] -= too_much;
  flow[in] += too_much;
  flow[out] += too_much;
}

/// Sends up to `amount` more from one node to another along free capacity, and returns how much.
std::int64_t SwitchRemoval::reroute(std::vector<std::int64_t>& flow, std::uint32_t from,
                                    std::uint32_t to, std::int64_t amount) {
  std::int64_t done = 0;
  // A half-arc is 2·arc forwards, 2·arc + 1 backwards.
  const auto room = [&](std::uint32_t half) {
    const std::uint32_t each = half / 2;
    return half % 2 == 0 ? arcs_[each].capacity - flow[each] : flow[each];
  };
  while (done < amount) {
    reached_by_.assign(ends_.size(), none);
    open_.assign(1, from);
    bool found = false;
    for (std::size_t i = 0; i < open_.size() && !found; ++i) {
      const std::uint32_t node = open_[i];
      const auto visit = [&](std::uint32_t half, std::uint32_t other) {
        if (found || other == from || reached_by_[other] != none || room(half) <= 0) return;
        reached_by_[other] = half;
        open_.push_back(other);
        found = other == to;
      };
      for (const std::uint32_t each : ends_[node].out) visit(2 * each, arcs_[each].to);
      for (const std::uint32_t each : ends_[node].in) visit(2 * each + 1, arcs_[each].from);
    }
    if (!found) break;
    const auto for_each_half = [&](auto apply) {
      for (std::uint32_t node = to; node != from;) {
        const std::uint32_t half = reached_by_[node];
        apply(half);
        node = half % 2 == 0 ? arcs_[half / 2].from : arcs_[half / 2].to;
      }
    };
    std::int64_t least = amount - done;
    for_each_half([&](std::uint32_t half) { least = std::min(least, room(half)); });
    for_each_half([&](std::uint32_t half) { flow[half / 2] += half % 2 == 0 ? least : -least; });
    done += least;
  }
  return done;
}

void SwitchRemoval::join_strands(Edge& in, Edge& out, Edge* across, std::int64_t amount) {
  while (amount > 0) {
    Strand& first = in.strands.back();
    Strand& second = out.strands.back();
    const std::int64_t part = std::min({amount, first.amount, second.amount});
    if (across != nullptr) {
      std::vector<LinkId> links = first.links;
      links.insert(links.end(), second.links.begin(), second.links.end());
      const auto same = std::find_if(across->strands.begin(), across->strands.end(),
                                     [&](const Strand& each) { return each.links == links; });
      if (same != across->strands.end()) {
        same->amount += part;
      } else {
        across->strands.push_back({.links = std::move(links), .amount = part});
      }
    }
    first.amount -= part;
    second.amount -= part;
    if (first.amount == 0) in.strands.pop_back();
    if (second.amount == 0) out.strands.pop_back();
    amount -= part;
  }
}

std::vector<SwitchRemoval::Edge> SwitchRemoval::edges() const {
  std::vector<Edge> left;
  for (const Edge& each : arcs_) {
    if (each.capacity > 0) left.push_back(each);
  }
  return left;
}

}  // namespace tutti::synthesis
