#include <algorithm>
#include <array>

#include "cost/closed_form/formulas.hpp"
#include "cost/closed_form/knomial.hpp"

namespace tutti::formula::reduce {

double flat(std::uint64_t p, double n, const Model& model) {
  return broadcast::flat(p, n, model) + model.sum(static_cast<double>(p - 1) * n);
}

/// A rank adds its children's sums in order of subtree size. All but the last have full subtrees of
/// 1, 2, 4, … ranks and arrive one after the other without gaps. The last may have a smaller
/// subtree and be early.
double binomial(std::uint64_t p, double n, const Model& model) {
  if (p < 2) return 0;
  const double message = model.message(n);
  const double sum = model.sum(n);
  const std::uint32_t others = ceil_log(p) - 1;
  const double others_added = others * (message + sum);
  const double port_free = model.one_port ? others_added - sum : 0;
  const double last_ready = binomial(p - (std::uint64_t{1} << others), n, model);
  return std::max(std::max(last_ready, port_free) + message, others_added) + sum;
}

/// The subtrees of the root are complete binary trees, and one of the two is full.
double binary_tree(std::uint64_t p, double n, const Model& model) {
  const double message = model.message(n);
  const double sum = model.sum(n);
  const std::uint32_t h = floor_log(p);
  if (std::has_single_bit(p + 1)) return h * ((model.one_port ? 2 : 1) * message + 2 * sum);
  if (p == 2) return message + sum;
  const std::uint64_t half_level = std::bit_floor(p) / 2;
  const std::uint64_t last_level = p + 1 - std::bit_floor(p);
  const std::uint64_t left = half_level - 1 + std::min(last_level, half_level);
  const double a = binary_tree(left, n, model);
  const double b = binary_tree(p - 1 - left, n, model);
  const double second_leaves =
      model.one_port ? std::max(std::max(a, b), std::min(a, b) + message) : std::max(a, b);
  return second_leaves + message + 2 * sum;
}

/// The left subtree of every rank is full; the right one is lower or also full. Only if it is full
/// do both sums arrive at the same time.
double inorder_tree(std::uint64_t size, double n, const Model& model) {
  if (size < 2) return 0;
  const double message = model.message(n);
  const double sum = model.sum(n);
  const std::uint32_t h = floor_log(size);
  const double left = (h - 1) * ((model.one_port ? 2 : 1) * message + 2 * sum);
  const double both_at_once = model.one_port && std::has_single_bit(size + 1) ? message : 0;
  return left + both_at_once + message + (std::has_single_bit(size) ? 1 : 2) * sum;
}

double chain(std::uint64_t p, double n, const Model& model) {
  return static_cast<double>(p - 1) * (model.message(n) + model.sum(n));
}

namespace {

/// The first segment is added on every rank in turn. The others follow at the pace of the slower of
/// receiving and adding.
double segmented_chain(const Problem& problem, double n, const Model& model) {
  const std::uint64_t segments = problem.values[0];
  const double message = model.message(n / static_cast<double>(segments));
  const double sum = model.sum(n / static_cast<double>(segments));
  const double pace = model.one_port ? std::max(message, sum) : 0;
  return static_cast<double>(problem.ranks - 1) * (message + sum) +
         static_cast<double>(segments - 1) * pace;
}

/// If p is not a power of k, some ranks have fewer children and can add while others receive.
Seconds knomial(const Problem& problem, double n, const Model& model) {
  const std::uint32_t k = problem.values[0];
  const Knomial tree(problem.ranks, k);
  const bool full = problem.ranks == tree.span * k || tree.levels == 1;
  if (model.gamma > 0 && !full) return {};
  const double sums = static_cast<double>(tree.degree()) * model.sum(n);
  const std::uint64_t in_turn = model.one_port ? tree.degree() : most_digits(problem.ranks, k);
  return static_cast<double>(in_turn) * model.message(n) + sums;
}

double mesh_two_shot(std::uint64_t p, double n, const Model& model) {
  return reduce_scatter::mesh(p, n, model) + broadcast::flat(p, n / static_cast<double>(p), model);
}

double reduce_scatter_gather(std::uint64_t p, double n, const Model& model) {
  return reduce_scatter::ring(p, n, model) + gather::binomial(p, n, model);
}

/// Both trees are ready at the same time. The root receives one half after the other, and adds the
/// first while the second arrives. If p is 2^k − 1, two leaves of one tree send at once to a rank
/// that receives one after the other. The second of them is late for its part in the other tree,
/// and which one that is depends on the position of the root.
Seconds double_tree(const Problem& problem, double n, const Model& model) {
  const std::uint64_t p = problem.ranks;
  if (problem.values[0] > 1) return {};
  const double message = model.message(n / 2);
  const double sum = model.sum(n / 2);
  if (model.one_port && p > 3 && std::has_single_bit(p + 1)) return {};
  const double tree = inorder_tree(p - 1, n / 2, model);
  return tree + message + (model.one_port ? std::max(message, sum) : 0) + sum;
}

Figures flat_figures(std::uint64_t p, std::uint64_t n) {
  return {.rounds = 1,
          .messages = p - 1,
          .bytes = (p - 1) * n,
          .reduced = (p - 1) * n,
          .most_sent = n,
          .most_received = (p - 1) * n,
          .most_reduced = (p - 1) * n,
          .most_in_a_round = n};
}

Figures mesh_two_shot_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = 2,
          .messages = (p + 1) * (p - 1),
          .bytes = (p - 1) * (n + block),
          .reduced = (p - 1) * n,
          .most_sent = p * block,
          .most_received = 2 * (p - 1) * block,
          .most_reduced = (p - 1) * block,
          .most_in_a_round = (p - 1) * block};
}

Figures binomial_figures(std::uint64_t p, std::uint64_t n) {
  return {.rounds = ceil_log(p),
          .messages = p - 1,
          .bytes = (p - 1) * n,
          .reduced = (p - 1) * n,
          .most_sent = n,
          .most_received = ceil_log(p) * n,
          .most_reduced = ceil_log(p) * n,
          .most_in_a_round = n};
}

Figures binary_tree_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t children = p == 2 ? 1 : 2;
  return {.rounds = floor_log(p),
          .messages = p - 1,
          .bytes = (p - 1) * n,
          .reduced = (p - 1) * n,
          .most_sent = n,
          .most_received = children * n,
          .most_reduced = children * n,
          .most_in_a_round = n};
}

Figures chain_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint64_t segments = problem.values[0];
  return {.rounds = static_cast<std::uint32_t>(p + segments - 2),
          .messages = segments * (p - 1),
          .bytes = (p - 1) * n,
          .reduced = (p - 1) * n,
          .most_sent = n,
          .most_received = n,
          .most_reduced = n,
          .most_in_a_round = n / segments};
}

Figures knomial_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const Knomial tree(p, problem.values[0]);
  return {.rounds = tree.levels,
          .messages = p - 1,
          .bytes = (p - 1) * n,
          .reduced = (p - 1) * n,
          .most_sent = n,
          .most_received = tree.degree() * n,
          .most_reduced = tree.degree() * n,
          .most_in_a_round = n};
}

Figures reduce_scatter_gather_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = static_cast<std::uint32_t>(p - 1) + ceil_log(p),
          .messages = (p + 1) * (p - 1),
          .bytes = (p - 1) * n + bits_below(p) * block,
          .reduced = (p - 1) * n,
          .most_sent = (p - 1 + largest_branch(p)) * block,
          .most_received = 2 * (p - 1) * block,
          .most_reduced = (p - 1) * block,
          .most_in_a_round = largest_branch(p) * block};
}

/// True if some rank has the same depth in both trees, and so sends both halves in one round.
///
/// Write the size of a tree as 2^a + 2^b + … with a > b > …: it is a sequence of full trees with
/// one rank after each, each hanging below the previous one. So the leaves of the j-th full tree,
/// counted from 0, have depth j + a_j, and the depth of other ranks is one less for each factor 2
/// in their position. If the size is odd, the second tree is shifted by one, and only the first and
/// last ranks can have equal depths. If it is even, the second tree is mirrored, and the leaves of
/// full tree j coincide with ranks of the first tree at every height up to a_j.
bool same_depth_in_both_trees(std::uint64_t size) {
  if (size % 2 == 1) return std::has_single_bit(size + 1);
  const std::uint32_t deepest = floor_log(size);
  std::uint32_t j = 0;
  for (std::uint64_t rest = size; rest > 0; rest -= std::bit_floor(rest), ++j) {
    const std::uint32_t leaves = j + floor_log(rest);
    const std::uint32_t higher = deepest - leaves;
    if (higher > 0 && higher <= floor_log(rest)) return true;
  }
  return false;
}

/// In a pipeline the two trees move different segments at once, so every rank of depth two or more
/// sends in both.
Figures double_tree_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint32_t segments = problem.values[0];
  const bool both = same_depth_in_both_trees(p - 1) || segments > 1;
  return {.rounds = floor_log(p - 1) + segments,
          .messages = 2 * segments * (p - 1),
          .bytes = (p - 1) * n,
          .reduced = (p - 1) * n,
          .most_sent = n,
          .most_received = n,
          .most_reduced = n,
          .most_in_a_round = (both ? n : n / 2) / segments};
}

constexpr std::array table{
    ClosedForm{.algorithm = "reduce/flat",
               .rounds = "1",
               .bytes = "(p−1)n",
               .most_in_a_round = "n",
               .seconds = "(p−1)(α+nβ+nγ)",
               .figures = figures<flat_figures>,
               .time = time<flat>},
    ClosedForm{.algorithm = "reduce/mesh_two_shot",
               .rounds = "2",
               .bytes = "(p−1)(1+1/p)n",
               .most_in_a_round = "(p−1)/p·n",
               .seconds = "2(p−1)α + (p−1)/p·n(2β+γ)",
               .figures = figures<mesh_two_shot_figures>,
               .time = time<mesh_two_shot>},
    ClosedForm{.algorithm = "reduce/binomial",
               .rounds = "L",
               .bytes = "(p−1)n",
               .most_in_a_round = "n",
               .seconds = "L(α+nβ+nγ) if p = 2^L or γ = 0; T(p) = max(T(p−2^(L−1))+w, Lw+(L−2)g, "
                          "(L−1)(w+g)) + g with w = α+nβ, g = nγ, T(1) = 0",
               .figures = figures<binomial_figures>,
               .time = time<binomial>},
    ClosedForm{.algorithm = "reduce/binary_tree",
               .rounds = "h",
               .bytes = "(p−1)n",
               .most_in_a_round = "n",
               .seconds = "2h(α+nβ+nγ) if p = 2^(h+1)−1; T = max(later, earlier+w) + w + 2g of the "
                          "T of the two subtrees, with w = α+nβ, g = nγ",
               .figures = figures<binary_tree_figures>,
               .time = time<binary_tree>},
    ClosedForm{.algorithm = "reduce/chain",
               .rounds = "p−2+segments",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/segments",
               .seconds = "(p−1)(w+g) + (segments−1)·max(w, g) with w = α+n/segments·β, g = "
                          "n/segments·γ",
               .figures = figures<chain_figures>,
               .time = time<segmented_chain>},
    ClosedForm{.algorithm = "reduce/reduce_scatter_gather",
               .rounds = "p−1+L",
               .bytes = "(p−1)n + S·n/p",
               .most_in_a_round = "max(p−2^(L−1), 2^(L−2))·n/p",
               .seconds = "(p−1+L)α + (p−1)/p·n(2β+γ)",
               .figures = figures<reduce_scatter_gather_figures>,
               .time = time<reduce_scatter_gather>},
    ClosedForm{.algorithm = "reduce/double_tree",
               .rounds = "⌊log₂(p−1)⌋+segments",
               .bytes = "(p−1)n",
               .most_in_a_round =
                   "n/segments; n/2 if segments = 1 and no rank has the same depth in "
                   "both trees",
               .seconds = "2kw + (2k+1)g + max(w, g) with w = α+nβ/2, g = nγ/2, k = ⌊log₂(p−1)⌋; "
                          "minus g if p−1 = 2^k > 1, plus w if p = 2^(k+1); no formula if p = "
                          "2^(k+1)−1 > 3 or segments > 1",
               .figures = figures<double_tree_figures>,
               .time = time<double_tree>},
    ClosedForm{.algorithm = "reduce/knomial",
               .rounds = "⌈log_k p⌉",
               .bytes = "(p−1)n",
               .most_in_a_round = "n",
               .seconds =
                   "M(α+nβ+nγ) with M = ⌈p/k^(R−1)⌉−1 + (k−1)(R−1), R = ⌈log_k p⌉, if p = k^R, "
                   "p ≤ k or γ = 0, else no formula",
               .figures = figures<knomial_figures>,
               .time = time<knomial>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::reduce
