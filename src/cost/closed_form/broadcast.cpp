#include <algorithm>
#include <array>

#include "cost/closed_form/formulas.hpp"
#include "cost/closed_form/knomial.hpp"

namespace tutti::formula::broadcast {
namespace {

/// With one port the second child waits while the first is served. So rank v gets the data after
/// one message for each bit of v+1 below the highest, and one more for each of those bits that is
/// set. The last rank to get it is the last leaf of a full tree of 2^h − 1 ranks, or the rank of
/// the level below with the most bits set.
std::uint32_t binary_tree_depth(std::uint64_t p, bool one_port) {
  const std::uint32_t h = floor_log(p);
  if (!one_port) return h;
  const std::uint32_t in_last_level = h + floor_log(p - (std::uint64_t{1} << h) + 1);
  return std::max(2 * h, in_last_level + 2) - 2;
}

}  // namespace

double flat(std::uint64_t p, double n, const Model& model) {
  return static_cast<double>(model.one_port ? p - 1 : 1) * model.message(n);
}

/// With unlimited ports a rank serves all its children at once, so that rank v gets the data after
/// as many messages as v has set bits.
double binomial(std::uint64_t p, double n, const Model& model) {
  return (model.one_port ? ceil_log(p) : floor_log(p)) * model.message(n);
}

double binary_tree(std::uint64_t p, double n, const Model& model) {
  return binary_tree_depth(p, model.one_port) * model.message(n);
}

/// The left subtree of every rank is full and is served first. The right subtree is lower, or also
/// full: then it finishes last.
double inorder_tree(std::uint64_t size, double n, const Model& model) {
  const std::uint32_t h = floor_log(size);
  if (!model.one_port || h == 0) return h * model.message(n);
  return (2 * h - (std::has_single_bit(size + 1) ? 0 : 1)) * model.message(n);
}

double chain(std::uint64_t p, double n, const Model& model) {
  return static_cast<double>(p - 1) * model.message(n);
}

namespace {

double scatter_allgather(std::uint64_t p, double n, const Model& model) {
  return scatter::binomial(p, n, model) + allgather::ring(p, n, model);
}

/// With one port the last segment leaves the root after all others. With unlimited ports all leave
/// at once.
double segmented_chain(const Problem& problem, double n, const Model& model) {
  const std::uint64_t segments = problem.values[0];
  const std::uint64_t behind = model.one_port ? segments - 1 : 0;
  return static_cast<double>(problem.ranks - 1 + behind) *
         model.message(n / static_cast<double>(segments));
}

/// The root sends one half after the other. With 11 ranks the position of the root decides whether
/// the two trees compete for a port.
Seconds double_tree(const Problem& problem, double n, const Model& model) {
  const std::uint64_t p = problem.ranks;
  if (problem.values[0] > 1 || (model.one_port && p == 11)) return {};
  return (model.one_port ? 2 : 1) * model.message(n / 2) + inorder_tree(p - 1, n / 2, model);
}

/// With one port the root sends last in the subtree of its last child, and the ranks below do the
/// same as those below the child. With unlimited ports the height of the tree counts.
double knomial(const Problem& problem, double n, const Model& model) {
  const std::uint32_t k = problem.values[0];
  const std::uint64_t in_turn =
      model.one_port ? Knomial(problem.ranks, k).degree() : most_digits(problem.ranks, k);
  return static_cast<double>(in_turn) * model.message(n);
}

Figures flat_figures(std::uint64_t p, std::uint64_t n) {
  return {.rounds = 1,
          .messages = p - 1,
          .bytes = (p - 1) * n,
          .most_sent = (p - 1) * n,
          .most_received = n,
          .most_in_a_round = (p - 1) * n};
}

Figures binomial_figures(std::uint64_t p, std::uint64_t n) {
  return {.rounds = ceil_log(p),
          .messages = p - 1,
          .bytes = (p - 1) * n,
          .most_sent = ceil_log(p) * n,
          .most_received = n,
          .most_in_a_round = n};
}

Figures binary_tree_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t children = p == 2 ? 1 : 2;
  return {.rounds = floor_log(p),
          .messages = p - 1,
          .bytes = (p - 1) * n,
          .most_sent = children * n,
          .most_received = n,
          .most_in_a_round = children * n};
}

Figures chain_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint64_t segments = problem.values[0];
  return {.rounds = static_cast<std::uint32_t>(p + segments - 2),
          .messages = segments * (p - 1),
          .bytes = (p - 1) * n,
          .most_sent = n,
          .most_received = n,
          .most_in_a_round = n / segments};
}

Figures knomial_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const Knomial tree(p, problem.values[0]);
  return {.rounds = tree.levels,
          .messages = p - 1,
          .bytes = (p - 1) * n,
          .most_sent = tree.degree() * n,
          .most_received = n,
          .most_in_a_round = tree.most_in_a_round() * n};
}

Figures scatter_allgather_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = ceil_log(p) + static_cast<std::uint32_t>(p - 1),
          .messages = (p + 1) * (p - 1),
          .bytes = bits_below(p) * block + (p - 1) * n,
          .most_sent = 2 * (p - 1) * block,
          .most_received = (largest_branch(p) + p - 1) * block,
          .most_in_a_round = largest_branch(p) * block};
}

Figures double_tree_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint32_t segments = problem.values[0];
  return {.rounds = floor_log(p - 1) + segments,
          .messages = 2 * segments * (p - 1),
          .bytes = (p - 1) * n,
          .most_sent = n,
          .most_received = n,
          .most_in_a_round = n / segments};
}

constexpr std::array table{
    ClosedForm{.algorithm = "broadcast/flat",
               .rounds = "1",
               .bytes = "(p−1)n",
               .most_in_a_round = "(p−1)n",
               .seconds = "(p−1)(α+nβ)",
               .figures = figures<flat_figures>,
               .time = time<flat>},
    ClosedForm{.algorithm = "broadcast/binomial",
               .rounds = "L",
               .bytes = "(p−1)n",
               .most_in_a_round = "n",
               .seconds = "L(α+nβ)",
               .figures = figures<binomial_figures>,
               .time = time<binomial>},
    ClosedForm{.algorithm = "broadcast/binary_tree",
               .rounds = "h",
               .bytes = "(p−1)n",
               .most_in_a_round = "min(2, p−1)·n",
               .seconds = "max(2h−2, h+⌊log₂(p−2^h+1)⌋)·(α+nβ)",
               .figures = figures<binary_tree_figures>,
               .time = time<binary_tree>},
    ClosedForm{.algorithm = "broadcast/chain",
               .rounds = "p−2+segments",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/segments",
               .seconds = "(p−2+segments)(α+n/segments·β)",
               .figures = figures<chain_figures>,
               .time = time<segmented_chain>},
    ClosedForm{.algorithm = "broadcast/scatter_allgather",
               .rounds = "L+p−1",
               .bytes = "(p−1)n + S·n/p",
               .most_in_a_round = "max(p−2^(L−1), 2^(L−2))·n/p",
               .seconds = "(L+p−1)α + 2(p−1)/p·nβ",
               .figures = figures<scatter_allgather_figures>,
               .time = time<scatter_allgather>},
    ClosedForm{.algorithm = "broadcast/double_tree",
               .rounds = "⌊log₂(p−1)⌋+segments",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/segments",
               .seconds = "(2k+1)(α+nβ/2) with k = ⌊log₂(p−1)⌋, (2k+2)(α+nβ/2) if p = 2^(k+1); no "
                          "formula if p = 11 or segments > 1",
               .figures = figures<double_tree_figures>,
               .time = time<double_tree>},
    ClosedForm{.algorithm = "broadcast/knomial",
               .rounds = "⌈log_k p⌉",
               .bytes = "(p−1)n",
               .most_in_a_round = "(k−1)n if p ≥ k",
               .seconds = "M(α+nβ) with M = ⌈p/k^(R−1)⌉−1 + (k−1)(R−1), R = ⌈log_k p⌉",
               .figures = figures<knomial_figures>,
               .time = time<knomial>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::broadcast
