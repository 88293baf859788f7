#include <algorithm>
#include <array>

#include "cost/closed_form/formulas.hpp"
#include "cost/closed_form/knomial.hpp"

namespace tutti::formula::scatter {
namespace {

/// With unlimited ports a rank serves all its children at once. The critical path goes through the
/// largest subtrees: down the full half, or to the other half, which gets `rest` blocks, and on
/// from there.
double binomial_at_once(std::uint64_t p, double block, const Model& model) {
  if (p < 2) return 0;
  const std::uint64_t half = std::bit_ceil(p) / 2;
  const std::uint64_t rest = p - half;
  const double in_full =
      floor_log(half) * model.link.alpha + static_cast<double>(half - 1) * block * model.link.beta;
  return std::max(in_full, model.message(static_cast<double>(rest) * block) +
                               binomial_at_once(rest, block, model));
}

}  // namespace

/// With one port the root takes longest: it sends all blocks but its own.
double binomial(std::uint64_t p, double n, const Model& model) {
  const double block = n / static_cast<double>(p);
  if (!model.one_port) return binomial_at_once(p, block, model);
  return ceil_log(p) * model.link.alpha + static_cast<double>(p - 1) * block * model.link.beta;
}

namespace {

/// With unlimited ports: down the full subtrees, or to the last child, which may have a smaller
/// one.
double knomial_at_once(std::uint64_t p, std::uint64_t k, double block, const Model& model) {
  if (p < 2) return 0;
  const Knomial tree(p, k);
  double full = 0;  // Down a full subtree of `span` ranks.
  for (std::uint64_t span = tree.span; span > 1; span /= k) {
    full += model.message(static_cast<double>(span / k) * block);
  }
  const std::uint64_t rest = p - tree.children * tree.span;
  const double to_full =
      tree.children > 1 ? model.message(static_cast<double>(tree.span) * block) + full : full;
  return std::max(to_full, model.message(static_cast<double>(rest) * block) +
                               knomial_at_once(rest, k, block, model));
}

}  // namespace

/// With one port the root takes longest: it sends all blocks but its own.
double knomial(const Problem& problem, double n, const Model& model) {
  const std::uint64_t p = problem.ranks;
  const double block = n / static_cast<double>(p);
  if (!model.one_port) return knomial_at_once(p, problem.values[0], block, model);
  return static_cast<double>(Knomial(p, problem.values[0]).degree()) * model.link.alpha +
         static_cast<double>(p - 1) * block * model.link.beta;
}

namespace {

double flat(std::uint64_t p, double n, const Model& model) {
  return broadcast::flat(p, n / static_cast<double>(p), model);
}

Figures flat_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = 1,
          .messages = p - 1,
          .bytes = (p - 1) * block,
          .most_sent = (p - 1) * block,
          .most_received = block,
          .most_in_a_round = (p - 1) * block};
}

Figures binomial_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = ceil_log(p),
          .messages = p - 1,
          .bytes = bits_below(p) * block,
          .most_sent = (p - 1) * block,
          .most_received = largest_branch(p) * block,
          .most_in_a_round = largest_branch(p) * block};
}

Figures knomial_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint64_t k = problem.values[0];
  const std::uint64_t block = n / p;
  const Knomial tree(p, k);
  const std::uint64_t below = tree.span / k;  // 0 if there is one level.
  const std::uint64_t to_first = tree.children > 1 ? tree.span : p - tree.span;
  return {.rounds = tree.levels,
          .messages = p - 1,
          .bytes = digits_below(p, k) * block,
          .most_sent = (p - 1) * block,
          .most_received = std::max(to_first, below) * block,
          .most_in_a_round = std::max(p - tree.span, below * (k - 1)) * block};
}

constexpr std::array table{
    ClosedForm{.algorithm = "scatter/flat",
               .rounds = "1",
               .bytes = "(p−1)/p·n",
               .most_in_a_round = "(p−1)/p·n",
               .seconds = "(p−1)α + (p−1)/p·nβ",
               .figures = figures<flat_figures>,
               .time = time<flat>},
    ClosedForm{.algorithm = "scatter/binomial",
               .rounds = "L",
               .bytes = "S·n/p",
               .most_in_a_round = "max(p−2^(L−1), 2^(L−2))·n/p",
               .seconds = "Lα + (p−1)/p·nβ",
               .figures = figures<binomial_figures>,
               .time = time<binomial>},
    ClosedForm{.algorithm = "scatter/knomial",
               .rounds = "⌈log_k p⌉",
               .bytes = "D·n/p, with D the number of digits ≠ 0 in base k of all numbers below p",
               .most_in_a_round = "(k−1)/k·n if p = k^R",
               .seconds = "Mα + (p−1)/p·nβ with M = ⌈p/k^(R−1)⌉−1 + (k−1)(R−1), R = ⌈log_k p⌉",
               .figures = figures<knomial_figures>,
               .time = time<knomial>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::scatter
