#include "topology/partition_search.hpp"

#include <utility>

namespace tutti {

PartitionSearch::PartitionSearch(const Network& network, const WholeUnits& units, bool reversed)
    : network_(network),
      units_(units),
      reversed_(reversed),
      source_(static_cast<std::uint32_t>(network.nodes.size())),
      sink_(source_ + 1),
      flow_(source_ + 2),
      first_from_source_(static_cast<std::uint32_t>(network.links.size())),
      first_to_sink_(first_from_source_ + network.rank_count()),
      infinite_(Wide{1} << 120) {
  for (const Link& link : network.links) {
    const NodeId from = reversed ? link.to : link.from;
    const NodeId to = reversed ? link.from : link.to;
    flow_.add_arc(from.index(), to.index());
  }
  for (const NodeId rank : network.ranks) flow_.add_arc(source_, rank.index());
  for (const NodeId rank : network.ranks) flow_.add_arc(rank.index(), sink_);
}

void PartitionSearch::begin_with_single_ranks() {
  groups_.clear();
  leaving_ = 0;
  for (std::uint32_t r = 0; r < network_.rank_count(); ++r) groups_.push_back({r});
  // All that leaves the node of a rank: not below h, and no flow is needed.
  for (std::size_t i = 0; i < network_.links.size(); ++i) {
    const Link& link = network_.links[i];
    const NodeId from = reversed_ ? link.to : link.from;
    if (network_[from].kind == NodeKind::rank) leaving_ += units_.of_link[i];
  }
}

void PartitionSearch::run() {
  while (!confirm()) {
  }
}

void PartitionSearch::set_links(Wide scale) {
  for (std::uint32_t i = 0; i < network_.links.size(); ++i) {
    flow_.set_capacity(i, scale * units_.of_link[i]);
  }
}

PartitionSearch::SignedWide PartitionSearch::least_excess(std::uint32_t k,
                                                          const std::vector<SignedWide>& y) {
  set_links(2 * (groups_.size() - 1));
  Wide gains = 0;
  for (std::uint32_t r = 0; r < network_.rank_count(); ++r) {
    Wide inside = 0;   // Cost of the rank on the sink side.
    Wide outside = 0;  // Cost of the rank on the source side.
    if (r == k) {
      inside = infinite_;
    } else if (r > k) {
      outside = infinite_;
    } else if (y[r] > 0) {
      inside = static_cast<Wide>(y[r]);
      gains += inside;
    } else {
      outside = static_cast<Wide>(-y[r]);
    }
    flow_.set_capacity(first_from_source_ + r, inside);
    flow_.set_capacity(first_to_sink_ + r, outside);
  }
  return static_cast<SignedWide>(flow_.run(source_, sink_)) - static_cast<SignedWide>(gains);
}

void PartitionSearch::join_groups(std::uint32_t k, std::vector<std::uint32_t>& group_of) const {
  std::vector<bool> touched(network_.rank_count());
  for (std::uint32_t r = 0; r <= k; ++r) {
    if (flow_.on_source_side(network_.ranks[r].index())) touched[group_of[r]] = true;
  }
  for (std::uint32_t r = 0; r <= k; ++r) {
    if (touched[group_of[r]]) group_of[r] = k;
  }
}

bool PartitionSearch::confirm() {
  const std::uint32_t p = network_.rank_count();
  const auto twice = static_cast<SignedWide>(2 * leaving_);
  std::vector<SignedWide> y(p);
  std::vector<std::uint32_t> group_of(p);
  SignedWide sum = 0;
  for (std::uint32_t k = 0; k < p; ++k) {
    y[k] = least_excess(k, y) - twice;
    sum += y[k];
    group_of[k] = k;
    join_groups(k, group_of);
  }
  // The division into one group has the sum −2·leaving.
  if (sum >= -twice) return true;
  std::vector<std::vector<Rank>> by_last(p);
  for (std::uint32_t r = 0; r < p; ++r) by_last[group_of[r]].emplace_back(r);
  groups_.clear();
  for (auto& each : by_last) {
    if (!each.empty()) groups_.push_back(std::move(each));
  }
  leaving_ = 0;
  for (const auto& each : groups_) leaving_ += bandwidth_out_of(each);
  return false;
}

Wide PartitionSearch::bandwidth_out_of(const std::vector<Rank>& group) {
  set_links(1);
  for (std::uint32_t r = 0; r < network_.rank_count(); ++r) {
    flow_.set_capacity(first_from_source_ + r, 0);
    flow_.set_capacity(first_to_sink_ + r, infinite_);
  }
  for (const Rank rank : group) {
    flow_.set_capacity(first_from_source_ + rank, infinite_);
    flow_.set_capacity(first_to_sink_ + rank, 0);
  }
  return flow_.run(source_, sink_);
}

}  // namespace tutti
