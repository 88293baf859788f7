#include <algorithm>
#include <array>

#include "cost/closed_form/every_block.hpp"
#include "cost/closed_form/exchange.hpp"
#include "cost/closed_form/formulas.hpp"
#include "cost/closed_form/torus.hpp"

namespace tutti::formula::allreduce {

double binomial(std::uint64_t p, double n, const Model& model) {
  return reduce::binomial(p, n, model) + broadcast::binomial(p, n, model);
}

namespace {

// Times -------------------------------------------------------------------------------------------

double mesh(std::uint64_t p, double n, const Model& model) { return reduce::flat(p, n, model); }

double mesh_two_shot(std::uint64_t p, double n, const Model& model) {
  return reduce_scatter::mesh(p, n, model) + allgather::mesh(p, n, model);
}

double root(std::uint64_t p, double n, const Model& model) {
  return reduce::flat(p, n, model) + broadcast::flat(p, n, model);
}

double binary_tree(std::uint64_t p, double n, const Model& model) {
  return reduce::binary_tree(p, n, model) + broadcast::binary_tree(p, n, model);
}

double ring_naive(std::uint64_t p, double n, const Model& model) {
  return reduce::chain(p, n, model) + broadcast::chain(p, n, model);
}

double ring(std::uint64_t p, double n, const Model& model) {
  return reduce_scatter::ring(p, n, model) + allgather::ring(p, n, model);
}

double bidirectional_ring(std::uint64_t p, double n, const Model& model) {
  return reduce_scatter::bidirectional_ring(p, n, model) +
         allgather::bidirectional_ring(p, n, model);
}

/// If p is not a power of two, one rank on the path to all others sends twice. How many additions
/// overlap with that depends on the groups at all levels.
Seconds recursive_doubling(std::uint64_t p, double n, const Model& model) {
  if (std::has_single_bit(p)) return ceil_log(p) * (model.message(n) + model.sum(n));
  if (!model.one_port || model.gamma > 0) return {};
  return (ceil_log(p) + 1) * model.message(n);
}

/// If p is not a power of two, ranks finish the first half at different times. Which ranks are late
/// for the second half depends on the groups of both halves.
Seconds halving_doubling(std::uint64_t p, double n, const Model& model) {
  if (!std::has_single_bit(p)) return {};
  return *reduce_scatter::recursive_halving(p, n, model) +
         *allgather::recursive_doubling(p, n, model);
}

double bruck(std::uint64_t p, double n, const Model& model) {
  return reduce_scatter::bruck(p, n, model) + allgather::bruck(p, n, model);
}

/// With one port, the work of a rank as a leaf of one tree fits into its waiting time as an inner
/// node of the other tree. This does not hold for trees that are one or two ranks short of full, or
/// for the smallest trees: there the two trees compete for the port.
Seconds double_tree(const Problem& problem, double n, const Model& model) {
  const std::uint64_t p = problem.ranks;
  if (problem.values[0] > 1) return {};
  const std::uint64_t lacking = 2 * std::bit_floor(p) - 1 - p;
  const bool trees_compete = p == 3 || (p > 4 && (lacking == 1 || lacking == 2));
  if (model.one_port && trees_compete) return {};
  return reduce::inorder_tree(p, n / 2, model) + broadcast::inorder_tree(p, n / 2, model);
}

double ring_ring(const Shape& shape, double n, const Model& model) {
  return ring(in_node(shape), n, model) +
         ring(nodes(shape), n / static_cast<double>(in_node(shape)), model);
}

double ring_tree(const Shape& shape, double n, const Model& model) {
  return ring(in_node(shape), n, model) +
         binomial(nodes(shape), n / static_cast<double>(in_node(shape)), model);
}

// Figures -----------------------------------------------------------------------------------------

/// Common to algorithms with one block per rank: each block is sent and added once by every rank
/// but one, and then sent once more to every rank but one.
Figures by_blocks(std::uint64_t p, std::uint64_t n, std::uint32_t rounds, std::uint64_t messages,
                  std::uint64_t blocks_in_a_round) {
  const std::uint64_t block = n / p;
  return {.rounds = rounds,
          .messages = messages,
          .bytes = 2 * (p - 1) * n,
          .reduced = (p - 1) * n,
          .most_sent = 2 * (p - 1) * block,
          .most_received = 2 * (p - 1) * block,
          .most_reduced = (p - 1) * block,
          .most_in_a_round = blocks_in_a_round * block};
}

Figures mesh_figures(std::uint64_t p, std::uint64_t n) {
  return {.rounds = 1,
          .messages = p * (p - 1),
          .bytes = p * (p - 1) * n,
          .reduced = p * (p - 1) * n,
          .most_sent = (p - 1) * n,
          .most_received = (p - 1) * n,
          .most_reduced = (p - 1) * n,
          .most_in_a_round = (p - 1) * n};
}

Figures mesh_two_shot_figures(std::uint64_t p, std::uint64_t n) {
  return by_blocks(p, n, 2, 2 * p * (p - 1), p - 1);
}

/// Common to algorithms that reduce to one rank and broadcast from it.
Figures by_tree(std::uint64_t p, std::uint64_t n, std::uint32_t rounds) {
  return {
      .rounds = rounds, .messages = 2 * (p - 1), .bytes = 2 * (p - 1) * n, .reduced = (p - 1) * n};
}

Figures root_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = by_tree(p, n, 2);
  figures.most_sent = figures.most_received = (p - 1) * n;
  figures.most_reduced = figures.most_in_a_round = (p - 1) * n;
  return figures;
}

Figures binary_tree_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t children = p == 2 ? 1 : 2;
  // From five ranks on some rank has a parent and two children.
  const std::uint64_t neighbours = p < 5 ? children : 3;
  Figures figures = by_tree(p, n, 2 * floor_log(p));
  figures.most_sent = figures.most_received = neighbours * n;
  figures.most_reduced = figures.most_in_a_round = children * n;
  return figures;
}

Figures binomial_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = by_tree(p, n, 2 * ceil_log(p));
  figures.most_sent = figures.most_received = figures.most_reduced = ceil_log(p) * n;
  figures.most_in_a_round = n;
  return figures;
}

Figures ring_naive_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = by_tree(p, n, 2 * (p - 1));
  figures.most_sent = figures.most_received = p == 2 ? n : 2 * n;
  figures.most_reduced = figures.most_in_a_round = n;
  return figures;
}

Figures ring_figures(std::uint64_t p, std::uint64_t n) {
  return by_blocks(p, n, 2 * (p - 1), 2 * p * (p - 1), 1);
}

Figures bidirectional_ring_figures(std::uint64_t p, std::uint64_t n) {
  return by_blocks(p, n, 2 * (p / 2), 2 * p * every_block::both_ways(p), p == 2 ? 1 : 2);
}

Figures recursive_doubling_figures(std::uint64_t p, std::uint64_t n) {
  return {.rounds = ceil_log(p),
          .messages = exchange_messages(p),
          .bytes = exchange_messages(p) * n,
          .reduced = exchange_messages(p) * n,
          .most_sent = most_exchanged_messages(p) * n,
          .most_received = ceil_log(p) * n,
          .most_reduced = ceil_log(p) * n,
          .most_in_a_round = std::has_single_bit(p) ? n : 2 * n};
}

Figures halving_doubling_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  Figures figures =
      by_blocks(p, n, 2 * ceil_log(p), 2 * exchange_messages(p), p % 2 == 0 ? p / 2 : p - 1);
  figures.most_sent = figures.most_received = (p - 1 + most_exchanged_blocks(p)) * block;
  figures.most_reduced = most_exchanged_blocks(p) * block;
  return figures;
}

Figures bruck_figures(std::uint64_t p, std::uint64_t n) {
  return by_blocks(p, n, 2 * ceil_log(p), 2 * p * ceil_log(p), largest_branch(p));
}

/// The halves that one rank sends in one round. In a pipeline it may send up a tree and down to two
/// children, of different segments, and up the other tree.
std::uint64_t double_tree_at_once(std::uint64_t p, std::uint64_t segments) {
  const std::uint64_t in_all = std::min<std::uint64_t>(p, 4);
  if (segments >= floor_log(p) + 2) return in_all;
  if (segments >= 3) return std::min<std::uint64_t>(in_all, 3);
  return p == 2 && segments == 1 ? 1 : 2;
}

Figures double_tree_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint32_t segments = problem.values[0];
  const std::uint64_t half = n / 2;
  const std::uint64_t children = p == 2 ? 1 : 2;
  Figures figures = by_tree(p, n, 2 * floor_log(p) + segments - 1);
  figures.messages *= 2 * segments;
  // With four or more ranks some rank is a leaf of one tree and has a parent and two children in
  // the other.
  figures.most_sent = figures.most_received = std::min<std::uint64_t>(p, 4) * half;
  figures.most_reduced = children * half;
  figures.most_in_a_round = double_tree_at_once(p, segments) * half / segments;
  return figures;
}

Figures ring_ring_figures(const Shape& shape, std::uint64_t n) {
  const std::uint64_t p = shape.size();
  const std::uint64_t rounds = 2 * (in_node(shape) - 1 + nodes(shape) - 1);
  return by_blocks(p, n, rounds, p * rounds, in_node(shape) > 1 ? nodes(shape) : 1);
}

Figures ring_tree_figures(const Shape& shape, std::uint64_t n) {
  const std::uint64_t p = shape.size();
  const std::uint64_t block = n / in_node(shape);
  const std::uint64_t along = in_node(shape) - 1;  // Blocks round the ring of a node.
  const std::uint64_t across = ceil_log(nodes(shape));
  const std::uint64_t trees = in_node(shape) * (nodes(shape) - 1);  // Blocks up all trees.
  return {.rounds = static_cast<std::uint32_t>(2 * (along + across)),
          .messages = 2 * (p * along + trees),
          .bytes = 2 * (p * along + trees) * block,
          .reduced = (p * along + trees) * block,
          .most_sent = (2 * along + across) * block,
          .most_received = (2 * along + across) * block,
          .most_reduced = (along + across) * block,
          .most_in_a_round = block};
}

constexpr std::array table{
    ClosedForm{.algorithm = "allreduce/mesh",
               .rounds = "1",
               .bytes = "p(p−1)n",
               .most_in_a_round = "(p−1)n",
               .seconds = "(p−1)(α+nβ+nγ)",
               .figures = figures<mesh_figures>,
               .time = time<mesh>},
    ClosedForm{.algorithm = "allreduce/mesh_two_shot",
               .rounds = "2",
               .bytes = "2(p−1)n",
               .most_in_a_round = "(p−1)/p·n",
               .seconds = "2(p−1)α + (p−1)/p·n(2β+γ)",
               .figures = figures<mesh_two_shot_figures>,
               .time = time<mesh_two_shot>},
    ClosedForm{.algorithm = "allreduce/root",
               .rounds = "2",
               .bytes = "2(p−1)n",
               .most_in_a_round = "(p−1)n",
               .seconds = "2(p−1)α + (p−1)n(2β+γ)",
               .figures = figures<root_figures>,
               .time = time<root>},
    ClosedForm{.algorithm = "allreduce/binary_tree",
               .rounds = "2h",
               .bytes = "2(p−1)n",
               .most_in_a_round = "min(2, p−1)·n",
               .seconds = "4hα + 2hn(2β+γ) if p = 2^(h+1)−1; reduce/binary_tree + "
                          "broadcast/binary_tree",
               .figures = figures<binary_tree_figures>,
               .time = time<binary_tree>},
    ClosedForm{.algorithm = "allreduce/binomial",
               .rounds = "2L",
               .bytes = "2(p−1)n",
               .most_in_a_round = "n",
               .seconds = "2Lα + Ln(2β+γ) if p = 2^L or γ = 0; reduce/binomial + L(α+nβ)",
               .figures = figures<binomial_figures>,
               .time = time<binomial>},
    ClosedForm{.algorithm = "allreduce/ring_naive",
               .rounds = "2(p−1)",
               .bytes = "2(p−1)n",
               .most_in_a_round = "n",
               .seconds = "2(p−1)α + (p−1)n(2β+γ)",
               .figures = figures<ring_naive_figures>,
               .time = time<ring_naive>},
    ClosedForm{.algorithm = "allreduce/ring",
               .rounds = "2(p−1)",
               .bytes = "2(p−1)n",
               .most_in_a_round = "n/p",
               .seconds = "2(p−1)α + (p−1)/p·n(2β+γ)",
               .figures = figures<ring_figures>,
               .time = time<ring>},
    ClosedForm{.algorithm = "allreduce/bidirectional_ring",
               .rounds = "2⌊p/2⌋",
               .bytes = "2(p−1)n",
               .most_in_a_round = "min(2, p−1)·n/p",
               .seconds = "reduce_scatter/bidirectional_ring + allgather/bidirectional_ring",
               .figures = figures<bidirectional_ring_figures>,
               .time = time<bidirectional_ring>},
    ClosedForm{.algorithm = "allreduce/recursive_doubling",
               .rounds = "L",
               .bytes = "(pL+p−2^L)·n",
               .most_in_a_round = "n if p = 2^L, else 2n",
               .seconds = "L(α+nβ+nγ) if p = 2^L, else (L+1)(α+nβ) if γ = 0, else no formula",
               .figures = figures<recursive_doubling_figures>,
               .time = time<recursive_doubling>},
    ClosedForm{.algorithm = "allreduce/halving_doubling",
               .rounds = "2L",
               .bytes = "2(p−1)n",
               .most_in_a_round = "n/2 if p is even, else (p−1)/p·n",
               .seconds = "2Lα + (p−1)/p·n(2β+γ) if p = 2^L, else no formula",
               .figures = figures<halving_doubling_figures>,
               .time = time<halving_doubling>},
    ClosedForm{
        .algorithm = "allreduce/bruck",
        .rounds = "2L",
        .bytes = "2(p−1)n",
        .most_in_a_round = "max(p−2^(L−1), 2^(L−2))·n/p",
        .seconds = "2Lα + (p−1)/p·n(2β+γ) if p > 3·2^(L−2); reduce_scatter/bruck + Lα + (p−1)/p·nβ",
        .figures = figures<bruck_figures>,
        .time = time<bruck>},
    ClosedForm{.algorithm = "allreduce/double_tree",
               .rounds = "2h+segments−1",
               .bytes = "2(p−1)n",
               .most_in_a_round = "min(2, p−1)·n/2",
               .seconds =
                   "(4h−2)w + 2hg with w = α+nβ/2, g = nγ/2; minus g if p = 2^h, plus 2w if p = "
                   "2^(h+1)−1; no formula if p = 3, or p > 4 is 2^(h+1)−3 or 2^(h+1)−2, or "
                   "segments > 1",
               .figures = figures<double_tree_figures>,
               .time = time<double_tree>},
    ClosedForm{.algorithm = "allreduce/ring_ring",
               .rounds = "2(G−1)+2(N−1)",
               .bytes = "2(p−1)n",
               .most_in_a_round = "n/G, or n/p if G = 1",
               .seconds = "2(G+N−2)α + (p−1)/p·n(2β+γ)",
               .figures = figures<ring_ring_figures>,
               .time = time<ring_ring>},
    ClosedForm{.algorithm = "allreduce/ring_tree",
               .rounds = "2(G−1)+2⌈log₂ N⌉",
               .bytes = "2(p(G−1)/G+N−1)·n",
               .most_in_a_round = "n/G",
               .seconds = "2(G−1)α + (G−1)/G·n(2β+γ) + allreduce/binomial of n/G among N ranks",
               .figures = figures<ring_tree_figures>,
               .time = time<ring_tree>},
    ClosedForm{.algorithm = "allreduce/torus",
               .rounds = "2Σ(sᵢ−1)",
               .bytes = "2(p−1)n",
               .most_in_a_round = "n/d·Σ1/sᵢ if all sᵢ > 1",
               .seconds = "2·ways·dΣ(sᵢ−1)α + 2(p−1)/p·nβ if γ = 0, else by recurrence over the "
                          "rounds",
               .figures = figures<formula::torus_allreduce_figures>,
               .time = time<formula::torus_allreduce>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::allreduce
