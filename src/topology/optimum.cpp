#include <algorithm>
#include <map>
#include <utility>

#include <tutti/error.hpp>
#include <tutti/network/optimum.hpp>

#include "topology/max_flow.hpp"
#include "topology/partition_search.hpp"
#include "topology/whole_units.hpp"

namespace tutti {
namespace {

/// Searches for the bottleneck cut by Newton's method. The best known cut gives a rate. A maximum
/// flow to one rank after the other either confirms that rate or shows a tighter cut, which becomes
/// the best known. A rank once satisfied stays satisfied, because rates only fall. All arithmetic
/// is on integers.
class CutSearch {
 public:
  CutSearch(const Network& network, const WholeUnits& units, bool reversed)
      : network_(network),
        units_(units),
        reversed_(reversed),
        source_(static_cast<std::uint32_t>(network.nodes.size())),
        flow_(source_ + 1) {
    for (const Link& link : network.links) {
      flow_.add_arc(from(link).index(), to(link).index());
    }
    for (const NodeId rank : network.ranks) flow_.add_arc(source_, rank.index());
  }

  void run() {
    begin_with_single_ranks();
    for (const NodeId rank : network_.ranks) {
      while (!satisfied(rank)) {
      }
    }
  }

  /// For the bottleneck cut: the ranks inside, and the leaving bandwidth in units.
  [[nodiscard]] Wide ranks() const { return ranks_; }
  [[nodiscard]] Wide leaving() const { return leaving_; }

  [[nodiscard]] Cut cut() const {
    Cut cut{.inside = {},
            .ranks = static_cast<std::uint32_t>(ranks_),
            .leaving = units_.rounded(leaving_)};
    for (std::uint32_t i = 0; i < inside_.size(); ++i) {
      if (inside_[i]) cut.inside.emplace_back(i);
    }
    return cut;
  }

 private:
  [[nodiscard]] NodeId from(const Link& link) const { return reversed_ ? link.to : link.from; }
  [[nodiscard]] NodeId to(const Link& link) const { return reversed_ ? link.from : link.to; }

  /// All nodes but one rank: often the bottleneck already.
  void begin_with_single_ranks() {
    std::vector<std::uint64_t> into(network_.nodes.size());
    for (std::size_t i = 0; i < network_.links.size(); ++i) {
      into[to(network_.links[i]).index()] += units_.of_link[i];
    }
    NodeId worst = network_.ranks.front();
    for (const NodeId rank : network_.ranks) {
      if (into[rank.index()] < into[worst.index()]) worst = rank;
    }
    inside_.assign(network_.nodes.size(), true);
    inside_[worst.index()] = false;
    ranks_ = network_.rank_count() - 1;
    leaving_ = into[worst.index()];
  }

  /// True if all ranks can send to this one at the same time at the rate leaving/ranks. If not, the
  /// tighter cut found by the flow replaces the current one.
  bool satisfied(NodeId rank) {
    const auto links = static_cast<std::uint32_t>(network_.links.size());
    for (std::uint32_t i = 0; i < links; ++i) {
      flow_.set_capacity(i, ranks_ * units_.of_link[i]);
    }
    for (std::uint32_t r = 0; r < network_.rank_count(); ++r) {
      flow_.set_capacity(links + r, leaving_);
    }
    if (flow_.run(source_, rank.index()) == leaving_ * network_.rank_count()) return true;
    for (std::uint32_t i = 0; i < inside_.size(); ++i) inside_[i] = flow_.on_source_side(i);
    ranks_ = 0;
    leaving_ = 0;
    for (const NodeId each : network_.ranks) ranks_ += inside_[each.index()] ? 1 : 0;
    for (std::uint32_t i = 0; i < links; ++i) {
      const Link& link = network_.links[i];
      if (inside_[from(link).index()] && !inside_[to(link).index()]) leaving_ += units_.of_link[i];
    }
    return false;
  }

  const Network& network_;
  const WholeUnits& units_;
  bool reversed_;
  std::uint32_t source_;
  MaxFlow flow_;
  std::vector<bool> inside_;
  Wide ranks_ = 0;
  Wide leaving_ = 0;
};

/// True if every link has links in the other direction with the same bandwidth.
bool is_symmetric(const Network& network, const WholeUnits& units) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> balance;
  for (std::size_t i = 0; i < network.links.size(); ++i) {
    const auto [low, high] =
        std::minmax({network.links[i].from.index(), network.links[i].to.index()});
    const auto sum = static_cast<std::int64_t>(units.of_link[i]);
    balance[{low, high}] += network.links[i].from.index() == low ? sum : -sum;
  }
  return std::all_of(balance.begin(), balance.end(),
                     [](const auto& each) { return each.second == 0; });
}

/// The ranks reached by the least bandwidth: the one that least can be sent to, or that can send
/// least, and the minimum cut.
struct NarrowCut {
  Wide units = 0;
  std::vector<bool> inside{};  // By node.
};

NarrowCut narrowest_cut(const Network& network, const WholeUnits& units) {
  MaxFlow flow(static_cast<std::uint32_t>(network.nodes.size()));
  for (const Link& link : network.links) flow.add_arc(link.from.index(), link.to.index());
  NarrowCut found{.units = Wide{1} << 120, .inside = {}};
  const auto consider = [&](NodeId from, NodeId to) {
    for (std::uint32_t i = 0; i < network.links.size(); ++i) {
      flow.set_capacity(i, units.of_link[i]);
    }
    const Wide most = flow.run(from.index(), to.index());
    if (most >= found.units) return;
    found.units = most;
    found.inside.assign(network.nodes.size(), false);
    for (std::uint32_t i = 0; i < network.nodes.size(); ++i) {
      found.inside[i] = flow.on_source_side(i);
    }
  };
  // Every cut that parts the ranks parts rank 0 from some other rank, in one of both directions.
  const NodeId first = network.ranks.front();
  for (const NodeId rank : network.ranks) {
    if (rank == first) continue;
    consider(first, rank);
    consider(rank, first);
  }
  return found;
}

Fraction in_sequence(Fraction a, Fraction b) {
  // 1 / (1/a + 1/b)
  if (a == b) return lowest_terms(a.above, Wide{2} * a.below);
  return lowest_terms(Wide{a.above} * b.above, Wide{a.below} * b.above + Wide{b.below} * a.above);
}

bool is_below(Fraction a, Fraction b) { return Wide{a.above} * b.below < Wide{b.above} * a.below; }

/// Keeps the tightest bound of an allreduce.
class AllreduceBound {
 public:
  AllreduceBound(const Network& network, const WholeUnits& units, Optimum& into)
      : network_(network), units_(units), into_(into) {}

  void find() {
    const bool symmetric = is_symmetric(network_, units_);
    PartitionSearch out(network_, units_, false);
    out.begin_with_single_ranks();
    note(out);
    PartitionSearch in(network_, units_, true);
    in.begin_with_single_ranks();
    note(in);
    // Some schedule reaches the composition, so no bound is below it.
    if (!is_below(into_.composed_allreduce, into_.allreduce)) return;
    out.run();
    note(out);
    // If both directions are equal, they have the same partitions, which include all cuts.
    if (symmetric) return;
    in.run();
    note(in);
    note(narrowest_cut(network_, units_));
  }

 private:
  void note(const PartitionSearch& search) {
    const Fraction rate = units_.rate(search.leaving(), Wide{2} * (search.groups().size() - 1));
    if (into_.allreduce.above != 0 && !is_below(rate, into_.allreduce)) return;
    into_.allreduce = rate;
    into_.groups = search.groups();
    into_.between = units_.rounded(search.leaving());
    into_.one_way = false;
  }

  void note(const NarrowCut& cut) {
    const Fraction rate = units_.rate(cut.units, 1);
    if (!is_below(rate, into_.allreduce)) return;
    into_.allreduce = rate;
    into_.groups.assign(2, {});
    for (std::uint32_t r = 0; r < network_.rank_count(); ++r) {
      into_.groups[cut.inside[network_.ranks[r].index()] ? 0 : 1].emplace_back(r);
    }
    into_.between = units_.rounded(cut.units);
    into_.one_way = true;
  }

  const Network& network_;
  const WholeUnits& units_;
  Optimum& into_;
};

}  // namespace

std::string to_string(Fraction fraction) {
  const std::string above = std::to_string(fraction.above);
  return fraction.below == 1 ? above : above + "/" + std::to_string(fraction.below);
}

Optimum optimum(const Network& network) {
  network.check();
  if (network.rank_count() < 2) {
    throw Error(ErrorCode::invalid_argument, "a network of one rank has no optimum: add ranks");
  }
  const WholeUnits units = whole_units(network);
  const auto rate = [&](const CutSearch& search) {
    return units.rate(search.leaving() * network.rank_count(), search.ranks());
  };
  CutSearch forward(network, units, false);
  forward.run();
  Optimum optimum{.allgather = rate(forward), .cut = forward.cut()};
  optimum.reduce_scatter = optimum.allgather;
  if (!is_symmetric(network, units)) {
    CutSearch reverse(network, units, true);
    reverse.run();
    optimum.reduce_scatter = rate(reverse);
  }
  optimum.composed_allreduce = in_sequence(optimum.allgather, optimum.reduce_scatter);
  AllreduceBound(network, units, optimum).find();
  return optimum;
}

}  // namespace tutti
