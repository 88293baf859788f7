#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>

#include "topology/max_flow.hpp"
#include "topology/whole_units.hpp"

namespace tutti {

/// The division of the ranks into groups that bounds an allreduce most tightly.
///
/// If the ranks are divided into m ≥ 2 groups, every byte position crosses between groups at least
/// 2(m−1) times: docs/networks.md has the proof. The bandwidth that leaves a group A, h(A), is the
/// minimum cut between A and the other ranks. So an allreduce of n bytes takes at least
/// 2(m−1)·n/Σh(A), and the search is for the division with the least Σh(A)/(m−1).
///
/// Newton's method: the best known division gives a ratio; one minimum of Σ(h(A) − 2·ratio) over
/// all divisions either confirms it or shows a better one. h is submodular, so the minimum is found
/// greedily, with one maximum flow for each rank (Dilworth truncation; Barahona, "Separating from
/// the dominant of the spanning tree polytope", 1992).
class PartitionSearch {
 public:
  /// `reversed`: bandwidth that enters a group instead.
  PartitionSearch(const Network& network, const WholeUnits& units, bool reversed);

  /// Begins with groups of one rank each, whose ratio is usually already the least.
  void begin_with_single_ranks();
  void run();

  /// Σh(A) in units, and the groups, of the best division so far.
  [[nodiscard]] Wide leaving() const { return leaving_; }
  [[nodiscard]] const std::vector<std::vector<Rank>>& groups() const { return groups_; }

 private:
  __extension__ using SignedWide = __int128;

  /// One greedy pass. True if the best known division is confirmed; otherwise replaces it.
  bool confirm();
  /// The least h(A) − y(A without k), scaled, over the sets A of ranks up to k that contain k.
  /// Leaves the minimum cut in flow_.
  [[nodiscard]] SignedWide least_excess(std::uint32_t k, const std::vector<SignedWide>& y);
  /// Joins the groups that the set of the last minimum cut touches.
  void join_groups(std::uint32_t k, std::vector<std::uint32_t>& group_of) const;
  [[nodiscard]] Wide bandwidth_out_of(const std::vector<Rank>& group);
  void set_links(Wide scale);

  const Network& network_;
  const WholeUnits& units_;
  bool reversed_;
  std::uint32_t source_;
  std::uint32_t sink_;
  MaxFlow flow_;
  std::uint32_t first_from_source_;  // Arc from the source to rank 0; the other ranks follow.
  std::uint32_t first_to_sink_;
  Wide infinite_;
  std::vector<std::vector<Rank>> groups_;
  Wide leaving_ = 0;
};

}  // namespace tutti
