#include "sim/fair_shares.hpp"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Levels that differ by less are equal: sums in another order differ by about 1e-16.
constexpr double tolerance = 1e-11;

bool clearly_above(double a, double b) { return a > b * (1 + tolerance); }

}  // namespace

FairShares::FairShares(std::vector<double> capacities) {
  links_.resize(capacities.size());
  fillings_.resize(capacities.size());
  for (std::size_t i = 0; i < capacities.size(); ++i) links_[i].capacity = capacities[i];
}

std::uint32_t FairShares::take_entries(std::uint32_t length) {
  if (unused_entries_.size() <= length) unused_entries_.resize(length + 1);
  std::vector<std::uint32_t>& unused = unused_entries_[length];
  if (!unused.empty()) {
    const std::uint32_t first = unused.back();
    unused.pop_back();
    return first;
  }
  const auto first = static_cast<std::uint32_t>(entries_.size());
  entries_.resize(entries_.size() + length);
  return first;
}

void FairShares::mark_dirty(std::uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

void FairShares::add(std::uint32_t flow, std::span<const Crossing> route, double weight) {
  if (flows_.size() <= flow) flows_.resize(flow + 1);
  Flow& added = flows_[flow];
  added = {.weight = weight,
           .first = take_entries(static_cast<std::uint32_t>(route.size())),
           .length = static_cast<std::uint32_t>(route.size())};
  for (std::uint32_t i = 0; i < route.size(); ++i) {
    const std::uint32_t at = added.first + i;
    Link& link = links_[route[i].link];
    entries_[at] = {
        .flow = flow, .link = route[i].link, .times = route[i].times, .next = link.first};
    if (link.first != none) entries_[link.first].previous = at;
    link.first = at;
    // A flow that is alone on its links affects no other flow.
    if (++link.crowd > 1) mark_dirty(route[i].link);
  }
  arrived_.push_back(flow);
  ++count_;
}

void FairShares::remove(std::uint32_t flow) {
  Flow& removed = flows_[flow];
  for (const Entry& entry : entries(removed)) {
    Link& link = links_[entry.link];
    (entry.previous == none ? link.first : entries_[entry.previous].next) = entry.next;
    if (entry.next != none) entries_[entry.next].previous = entry.previous;
    if (--link.crowd > 0) mark_dirty(entry.link);
  }
  unused_entries_[removed.length].push_back(removed.first);
  removed.length = 0;
  --count_;
}

std::span<const std::uint32_t> FairShares::settle() {
  changed_.clear();
  for (const std::uint32_t flow : arrived_) {
    if (flows_[flow].length > 0 && !settle_alone(flow)) choose(flow);
  }
  arrived_.clear();
  choose_by_dirty_links();
  if (chosen_.empty()) return changed_;
  do {
    open_links();
    fill();
  } while (choose_more());
  finish();
  return changed_;
}

bool FairShares::settle_alone(std::uint32_t id) {
  Flow& flow = flows_[id];
  double rate = infinite;
  for (const Entry& entry : entries(flow)) {
    const Link& link = links_[entry.link];
    if (link.crowd > 1) return false;
    const double most = link.capacity / entry.times;
    if (most < rate) {
      rate = most;
      flow.bottleneck = entry.link;
    }
  }
  flow.rate = rate;
  flow.level = rate / flow.weight;
  changed_.push_back(id);
  return true;
}

void FairShares::choose(std::uint32_t id) {
  Flow& flow = flows_[id];
  if (flow.chosen) return;
  flow.chosen = true;
  chosen_.push_back(id);
  rates_before_.push_back(flow.rate);
}

/// On links where flows have started or ended, chooses the flows for which the link was the
/// bottleneck.
void FairShares::choose_by_dirty_links() {
  for (const std::uint32_t id : dirty_) {
    links_[id].dirty = false;
    for (std::uint32_t at = links_[id].first; at != none; at = entries_[at].next) {
      if (flows_[entries_[at].flow].bottleneck == id) choose(entries_[at].flow);
    }
  }
  dirty_.clear();
}

/// Counts the newly chosen flows on their links.
void FairShares::open_links() {
  for (; opened_ < chosen_.size(); ++opened_) {
    for (const Entry& entry : entries(flows_[chosen_[opened_]])) {
      Link& link = links_[entry.link];
      if (!std::exchange(link.touched, true)) touched_.push_back(entry.link);
      if (!std::exchange(link.stale, true)) stale_.push_back(entry.link);
    }
  }
  for (const std::uint32_t id : stale_) open_link(id);
  stale_.clear();
}

void FairShares::open_link(std::uint32_t id) {
  Link& link = links_[id];
  Filling& filling = fillings_[id];
  link.stale = false;
  filling.open = link.capacity;
  filling.weight = 0;
  filling.chosen = 0;
  for (std::uint32_t at = link.first; at != none; at = entries_[at].next) {
    const Entry& entry = entries_[at];
    const Flow& flow = flows_[entry.flow];
    if (flow.chosen) {
      filling.weight += entry.times * flow.weight;
      ++filling.chosen;
    } else {
      filling.open -= entry.times * flow.rate;
    }
  }
}

/// Progressive filling: the levels of the chosen flows rise together until a link is full. The
/// rates of the flows on that link are then final; the other flows continue.
void FairShares::fill() {
  constexpr std::size_t few = 40;
  for (const std::uint32_t flow : chosen_) flows_[flow].found = false;
  for (const std::uint32_t id : touched_) {
    Filling& filling = fillings_[id];
    filling.left = std::max(filling.open, 0.0);
    filling.left_weight = filling.weight;
    filling.left_chosen = filling.chosen;
    filling.level = infinite;
  }
  chosen_.size() <= few ? fill_few() : fill_many();
}

/// Each pass finds the rate of at least one flow. For few flows that is faster than a heap.
void FairShares::fill_few() {
  candidates_.clear();
  for (const std::uint32_t id : touched_) candidates_.push_back({.level = 0, .link = id});
  while (true) {
    const Filling* first = nullptr;
    std::uint32_t link = none;
    std::size_t kept = 0;
    for (const Candidate& each : candidates_) {
      const Filling& filling = fillings_[each.link];
      if (filling.left_chosen == 0) continue;
      candidates_[kept++] = each;
      // Compares the levels left/left_weight without a division.
      if (first == nullptr ||
          filling.left * first->left_weight < first->left * filling.left_weight) {
        first = &filling;
        link = each.link;
      }
    }
    candidates_.resize(kept);
    if (first == nullptr) return;
    fillings_[link].level = std::max(first->left, 0.0) / first->left_weight;
    fill_link(link);
  }
}

void FairShares::fill_many() {
  const auto later = [](const Candidate& a, const Candidate& b) { return a.level > b.level; };
  candidates_.clear();
  for (const std::uint32_t id : touched_) {
    const Filling& filling = fillings_[id];
    candidates_.push_back({.level = filling.left / filling.left_weight, .link = id});
  }
  std::make_heap(candidates_.begin(), candidates_.end(), later);
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end(), later);
    Candidate first = candidates_.back();
    candidates_.pop_back();
    const Filling& filling = fillings_[first.link];
    if (filling.left_chosen == 0) continue;
    // Since it was pushed, flows with lower rates may have left more capacity: levels only rise.
    const double level = std::max(filling.left, 0.0) / filling.left_weight;
    if (level > first.level && !candidates_.empty() && level > candidates_.front().level) {
      first.level = level;
      candidates_.push_back(first);
      std::push_heap(candidates_.begin(), candidates_.end(), later);
      continue;
    }
    fillings_[first.link].level = level;
    fill_link(first.link);
  }
}

void FairShares::fill_link(std::uint32_t id) {
  const double level = fillings_[id].level;
  for (std::uint32_t at = links_[id].first; at != none; at = entries_[at].next) {
    Flow& flow = flows_[entries_[at].flow];
    if (!flow.chosen || flow.found) continue;
    flow.found = true;
    flow.level = level;
    flow.rate = level * flow.weight;
    flow.bottleneck = id;
    for (const Entry& entry : entries(flow)) {
      Filling& filling = fillings_[entry.link];
      filling.left -= entry.times * flow.rate;
      filling.left_weight -= entry.times * flow.weight;
      --filling.left_chosen;
    }
  }
}

/// Chooses other flows that have too much or could have more. True if there are any.
bool FairShares::choose_more() {
  const std::size_t before = chosen_.size();
  for (const std::uint32_t id : touched_) {
    const Link& link = links_[id];
    const Filling& filling = fillings_[id];
    if (filling.chosen == link.crowd) continue;
    double highest = 0;
    bool limits = false;  // True if it is the bottleneck of a flow that is not chosen.
    for (std::uint32_t at = link.first; at != none; at = entries_[at].next) {
      const Flow& flow = flows_[entries_[at].flow];
      if (flow.found) highest = std::max(highest, flow.level);
      if (flow.chosen) continue;
      if (clearly_above(flow.level, filling.level)) {
        choose(entries_[at].flow);
      } else if (flow.bottleneck == id) {
        limits = true;
      }
    }
    if (!limits) continue;
    const bool full = filling.left <= tolerance * link.capacity;
    for (std::uint32_t at = link.first; at != none; at = entries_[at].next) {
      const Flow& flow = flows_[entries_[at].flow];
      if (flow.chosen || flow.bottleneck != id) continue;
      if (!full || clearly_above(highest, flow.level)) choose(entries_[at].flow);
    }
  }
  return chosen_.size() > before;
}

void FairShares::finish() {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    Flow& flow = flows_[chosen_[i]];
    flow.chosen = flow.found = false;
    if (flow.rate != rates_before_[i]) changed_.push_back(chosen_[i]);
  }
  for (const std::uint32_t link : touched_) links_[link].touched = false;
  chosen_.clear();
  rates_before_.clear();
  touched_.clear();
  opened_ = 0;
}

}  // namespace tutti
