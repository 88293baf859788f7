#include <array>

#include "cost/closed_form/formulas.hpp"

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
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::gather
