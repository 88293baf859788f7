#include "synthesis/tree_packing.hpp"

#include <algorithm>
#include <bit>

namespace tutti::synthesis {
namespace {

constexpr std::uint32_t through_batch = std::uint32_t{1} << 31;

}  // namespace

TreePacking::TreePacking(const RankGraph& graph, std::span<const std::uint32_t> roots,
                         std::uint32_t trees)
    : graph_(graph),
      n_(graph.ranks),
      in_(n_),
      out_(n_),
      holds_(n_),
      flow_(graph.edges.size(), 0),
      step_(n_),
      hop_(n_) {
  for (std::uint32_t i = 0; i < graph.edges.size(); ++i) {
    const RankEdge& edge = graph.edges[i];
    left_.push_back(edge.capacity);
    out_[edge.from].push_back(i);
    in_[edge.to].push_back(i);
  }
  for (const std::uint32_t root : roots) {
    const auto batch = static_cast<std::uint32_t>(batches_.size());
    batches_.push_back({.weight = trees,
                        .has = std::vector<std::uint64_t>((n_ + 63) / 64),
                        .edge_into = std::vector<std::uint32_t>(n_, none),
                        .depth = std::vector<std::uint32_t>(n_, 0),
                        .root = root});
    add_rank(batch, root, none);
  }
}

void TreePacking::add_rank(std::uint32_t index, std::uint32_t rank, std::uint32_t edge) {
  Batch& batch = batches_[index];
  batch.has[rank / 64] |= std::uint64_t{1} << rank % 64;
  batch.edge_into[rank] = edge;
  batch.order.push_back(rank);
  if (edge != none) batch.depth[rank] = batch.depth[graph_.edges[edge].from] + 1;
  std::vector<std::uint64_t>& holds = holds_[rank];
  if (holds.size() <= index / 64) holds.resize(index / 64 + 1);
  holds[index / 64] |= std::uint64_t{1} << index % 64;
  batch.open.insert(batch.open.end(), out_[rank].begin(), out_[rank].end());
}

std::optional<std::vector<Tree>> TreePacking::run(const Pace& pace) {
  // All trees grow at the same pace, so that all stay shallow.
  std::size_t unfinished = batches_.size();
  while (unfinished > 0) {
    unfinished = 0;
    std::size_t ranks = 0;
    for (std::uint32_t i = 0; i < batches_.size(); ++i) {
      if (batches_[i].order.size() < n_) {
        if (pace.is_late() || !grow(i)) return {};
        ++unfinished;
      }
      ranks += batches_[i].order.size();
    }
    pace.report(static_cast<double>(ranks) / static_cast<double>(batches_.size() * n_));
  }
  std::vector<Tree> trees;
  for (Batch& each : batches_) {
    trees.push_back({.root = each.root,
                     .weight = each.weight,
                     .edge_into = std::move(each.edge_into),
                     .order = std::move(each.order)});
  }
  return trees;
}

/// Adds one rank to the batch. False if there is no edge to add, which Edmonds' theorem excludes if
/// the trees fit.
bool TreePacking::grow(std::uint32_t index) {
  while (true) {
    Batch& batch = batches_[index];
    // Of the edges of the lowest depth, the one with most capacity left.
    std::size_t best = batch.open.size();
    std::size_t kept = 0;
    for (const std::uint32_t edge : batch.open) {
      if (left_[edge] == 0 || bit(batch.has, graph_.edges[edge].to)) continue;
      batch.open[kept] = edge;
      const std::uint32_t depth = batch.depth[graph_.edges[edge].from];
      if (best == batch.open.size() || depth < batch.depth[graph_.edges[batch.open[best]].from] ||
          (depth == batch.depth[graph_.edges[batch.open[best]].from] &&
           left_[edge] > left_[batch.open[best]])) {
        best = kept;
      }
      ++kept;
    }
    if (kept == 0) return false;
    batch.open.resize(kept);
    const std::uint32_t edge = batch.open[best];
    batch.open.erase(batch.open.begin() + static_cast<std::ptrdiff_t>(best));
    const std::int64_t weight = most_that_fits(index, edge);
    // An edge that does not fit now never will: a tight cut stays tight.
    if (weight == 0) continue;
    if (weight < batch.weight) divide(index, weight);
    left_[edge] -= weight;
    add_rank(index, graph_.edges[edge].to, edge);
    return true;
  }
}

/// Keeps `weight` trees in the batch; the others become a batch of their own.
void TreePacking::divide(std::uint32_t index, std::int64_t weight) {
  Batch rest = batches_[index];
  rest.weight -= weight;
  batches_[index].weight = weight;
  const auto other = static_cast<std::uint32_t>(batches_.size());
  for (const std::uint32_t rank : rest.order) {
    std::vector<std::uint64_t>& holds = holds_[rank];
    if (holds.size() <= other / 64) holds.resize(other / 64 + 1);
    holds[other / 64] |= std::uint64_t{1} << other % 64;
  }
  batches_.push_back(std::move(rest));
}

/// How many trees of the batch can take the edge from x to y, so that all trees can still be
/// finished: the maximum flow to y from x and from all other batches without y, which each supply
/// their weight at any of their ranks, less those weights.
std::int64_t TreePacking::most_that_fits(std::uint32_t index, std::uint32_t edge) {
  const std::uint32_t x = graph_.edges[edge].from;
  const std::uint32_t y = graph_.edges[edge].to;
  const std::size_t words = (batches_.size() + 63) / 64;
  active_.assign(words, 0);
  unsupplied_.resize(batches_.size());
  supplied_.resize(batches_.size());
  std::int64_t others = 0;
  for (std::uint32_t i = 0; i < batches_.size(); ++i) {
    unsupplied_[i] = 0;
    supplied_[i].clear();
    if (i == index || bit(batches_[i].has, y)) continue;
    active_[i / 64] |= std::uint64_t{1} << i % 64;
    unsupplied_[i] = batches_[i].weight;
    others += batches_[i].weight;
  }
  const std::int64_t wanted = others + std::min(left_[edge], batches_[index].weight);
  std::int64_t total = 0;
  while (total < wanted) {
    const std::int64_t more = augment(x, y, wanted - total);
    if (more == 0) break;
    total += more;
  }
  for (const std::uint32_t each : used_) flow_[each] = 0;
  used_.clear();
  return std::max<std::int64_t>(0, total - others);
}

/// Sends as much as it carries, at most `amount`, along the path that was found from `begin` to y,
/// where a batch supplies it unless `supplier` is none. Returns how much.
std::int64_t TreePacking::follow(std::uint32_t begin, std::uint32_t y, std::int64_t amount,
                                 std::uint32_t supplier) {
  // Two passes over the path: its narrowest place, then the flow itself.
  for (const bool apply : {false, true}) {
    for (std::uint32_t rank = begin; rank != y;) {
      const std::uint32_t step = step_[rank];
      if (step >= through_batch) {
        // The batch supplies another rank instead of this one.
        const std::uint32_t batch = step - through_batch;
        amount = std::min(amount, supply(batch, rank));
        if (apply) supply(batch, rank) -= amount;
        if (apply) supply(batch, hop_[rank]) += amount;
        rank = hop_[rank];
        continue;
      }
      const RankEdge& edge = graph_.edges[step / 2];
      const bool forwards = step % 2 == 0;
      amount = std::min(amount, forwards ? left_[step / 2] - flow_[step / 2] : flow_[step / 2]);
      if (apply) push(step, amount);
      rank = forwards ? edge.to : edge.from;
    }
  }
  if (supplier != none) {
    unsupplied_[supplier] -= amount;
    supply(supplier, begin) += amount;
  }
  return amount;
}

/// One more path of the flow, searched backwards from y. Returns its amount.
std::int64_t TreePacking::augment(std::uint32_t x, std::uint32_t y, std::int64_t most) {
  std::fill(step_.begin(), step_.end(), none);
  unseen_ = active_;
  queue_.assign(1, y);
  step_[y] = y;
  for (std::size_t q = 0; q < queue_.size(); ++q) {
    const std::uint32_t rank = queue_[q];
    if (rank == x) return follow(rank, y, most, none);
    const std::vector<std::uint64_t>& holds = holds_[rank];
    const std::size_t words = std::min(holds.size(), unseen_.size());
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t bits = holds[w] & unseen_[w]; bits != 0; bits &= bits - 1) {
        const auto batch =
            static_cast<std::uint32_t>(64 * w + static_cast<std::size_t>(std::countr_zero(bits)));
        if (unsupplied_[batch] > 0)
          return follow(rank, y, std::min(most, unsupplied_[batch]), batch);
        for (const Supply& each : supplied_[batch]) {
          if (each.amount == 0 || step_[each.rank] != none) continue;
          step_[each.rank] = through_batch + batch;
          hop_[each.rank] = rank;
          queue_.push_back(each.rank);
        }
      }
      unseen_[w] &= ~holds[w];
    }
    for (const std::uint32_t edge : in_[rank]) {
      const std::uint32_t from = graph_.edges[edge].from;
      if (step_[from] != none || flow_[edge] >= left_[edge]) continue;
      step_[from] = 2 * edge;
      queue_.push_back(from);
    }
    for (const std::uint32_t edge : out_[rank]) {
      const std::uint32_t to = graph_.edges[edge].to;
      if (step_[to] != none || flow_[edge] == 0) continue;
      step_[to] = 2 * edge + 1;
      queue_.push_back(to);
    }
  }
  return 0;
}

/// What a batch has supplied to a rank. Valid until the next call.
std::int64_t& TreePacking::supply(std::uint32_t batch, std::uint32_t rank) {
  std::vector<Supply>& all = supplied_[batch];
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Supply& each) { return each.rank == rank; });
  if (found != all.end()) return found->amount;
  return all.emplace_back(Supply{.rank = rank, .amount = 0}).amount;
}

void TreePacking::push(std::uint32_t half, std::int64_t amount) {
  const std::uint32_t edge = half / 2;
  if (flow_[edge] == 0) used_.push_back(edge);
  flow_[edge] += half % 2 == 0 ? amount : -amount;
}

}  // namespace tutti::synthesis
