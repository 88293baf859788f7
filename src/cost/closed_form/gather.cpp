#include <algorithm>
#include <array>

#include "cost/closed_form/formulas.hpp"
#include "cost/closed_form/knomial.hpp"

namespace tutti::formula::gather {

/// The dual of a scatter takes the same time.
double binomial(std::uint64_t p, double n, const Model& model) {
  return scatter::binomial(p, n, model);
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
          .most_sent = block,
          .most_received = (p - 1) * block,
          .most_in_a_round = block};
}

Figures binomial_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = ceil_log(p),
          .messages = p - 1,
          .bytes = bits_below(p) * block,
          .most_sent = largest_branch(p) * block,
          .most_received = (p - 1) * block,
          .most_in_a_round = largest_branch(p) * block};
}

Figures knomial_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint64_t k = problem.values[0];
  const std::uint64_t block = n / p;
  const Knomial tree(p, k);
  const std::uint64_t largest =
      std::max(tree.children > 1 ? tree.span : p - tree.span, tree.span / k);
  return {.rounds = tree.levels,
          .messages = p - 1,
          .bytes = digits_below(p, k) * block,
          .most_sent = largest * block,
          .most_received = (p - 1) * block,
          .most_in_a_round = largest * block};
}

constexpr std::array table{
    ClosedForm{.algorithm = "gather/flat",
               .rounds = "1",
               .bytes = "(p−1)/p·n",
               .most_in_a_round = "n/p",
               .seconds = "(p−1)α + (p−1)/p·nβ",
               .figures = figures<flat_figures>,
               .time = time<flat>},
    ClosedForm{.algorithm = "gather/binomial",
               .rounds = "L",
               .bytes = "S·n/p",
               .most_in_a_round = "max(p−2^(L−1), 2^(L−2))·n/p",
               .seconds = "Lα + (p−1)/p·nβ",
               .figures = figures<binomial_figures>,
               .time = time<binomial>},
    ClosedForm{.algorithm = "gather/knomial",
               .rounds = "⌈log_k p⌉",
               .bytes = "D·n/p, with D the number of digits ≠ 0 in base k of all numbers below p",
               .most_in_a_round = "n/k if p = k^R",
               .seconds = "Mα + (p−1)/p·nβ with M = ⌈p/k^(R−1)⌉−1 + (k−1)(R−1), R = ⌈log_k p⌉",
               .figures = figures<knomial_figures>,
               .time = time<scatter::knomial>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::gather
