#include <cmath>
#include <limits>
#include <numeric>

#include <tutti/error.hpp>
#include <tutti/network/optimum.hpp>

#include "topology/max_flow.hpp"

namespace tutti {
namespace {

[[noreturn]] void no_common_measure() {
  throw Error(ErrorCode::unsupported,
              "the bandwidths of this network have no common divisor whose multiples fit in 64 "
              "bits: round them to whole bytes per second");
}

Wide greatest_common_divisor(Wide a, Wide b) {
  while (b != 0) {
    a %= b;
    std::swap(a, b);
  }
  return a;
}

Fraction lowest_terms(Wide above, Wide below) {
  const Wide divisor = greatest_common_divisor(above, below);
  above /= divisor;
  below /= divisor;
  constexpr Wide most = std::numeric_limits<std::uint64_t>::max();
  if (above > most || below > most) no_common_measure();
  return {.above = static_cast<std::uint64_t>(above), .below = static_cast<std::uint64_t>(below)};
}

/// Bandwidths as whole multiples of a common unit, which is 2^-shift · factor bytes per second.
struct Units {
  std::vector<std::uint64_t> of_link{};
  std::uint64_t factor = 1;
  std::uint32_t shift = 0;
};

/// Exact: every double is a whole multiple of some power of 2.
Units whole_units(const Network& network) {
  Units units;
  const auto is_whole = [&](double value) {
    return std::ldexp(value, static_cast<int>(units.shift)) ==
           std::floor(std::ldexp(value, static_cast<int>(units.shift)));
  };
  constexpr std::uint32_t most_shift = 62;
  for (const Link& link : network.links) {
    while (units.shift < most_shift && !is_whole(link.bytes_per_second)) ++units.shift;
  }
  std::uint64_t divisor = 0;
  double sum = 0;
  for (const Link& link : network.links) {
    const double value = std::ldexp(link.bytes_per_second, static_cast<int>(units.shift));
    sum += value;
    if (value != std::floor(value) || sum > 0x1p62) no_common_measure();
    units.of_link.push_back(static_cast<std::uint64_t>(value));
    divisor = std::gcd(divisor, units.of_link.back());
  }
  for (std::uint64_t& each : units.of_link) each /= divisor;
  units.factor = divisor;
  return units;
}

/// Searches for the bottleneck cut by Newton's method. The best known cut gives a rate. A maximum
/// flow to one rank after the other either confirms that rate or shows a tighter cut, which becomes
/// the best known. A rank once satisfied stays satisfied, because rates only fall. All arithmetic
/// is on integers.
class CutSearch {
 public:
  CutSearch(const Network& network, const Units& units, bool reversed)
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
    Cut cut{
        .inside = {},
        .ranks = static_cast<std::uint32_t>(ranks_),
        .leaving = std::ldexp(static_cast<double>(leaving_) * static_cast<double>(units_.factor),
                              -static_cast<int>(units_.shift))};
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
  const Units& units_;
  bool reversed_;
  std::uint32_t source_;
  MaxFlow flow_;
  std::vector<bool> inside_;
  Wide ranks_ = 0;
  Wide leaving_ = 0;
};

Fraction bandwidth(const Network& network, const Units& units, const CutSearch& search) {
  return lowest_terms(search.leaving() * network.rank_count() * units.factor,
                      search.ranks() * (Wide{1} << units.shift));
}

Fraction in_sequence(Fraction a, Fraction b) {
  // 1 / (1/a + 1/b)
  if (a == b) return lowest_terms(a.above, Wide{2} * a.below);
  return lowest_terms(Wide{a.above} * b.above, Wide{a.below} * b.above + Wide{b.below} * a.above);
}

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
  const Units units = whole_units(network);
  CutSearch forward(network, units, false);
  forward.run();
  CutSearch reverse(network, units, true);
  reverse.run();
  Optimum optimum{.allgather = bandwidth(network, units, forward),
                  .reduce_scatter = bandwidth(network, units, reverse),
                  .allreduce = {},
                  .cut = forward.cut()};
  optimum.allreduce = in_sequence(optimum.allgather, optimum.reduce_scatter);
  return optimum;
}

}  // namespace tutti
