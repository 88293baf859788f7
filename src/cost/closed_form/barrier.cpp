#include <array>

#include "cost/closed_form/formulas.hpp"
#include "cost/closed_form/knomial.hpp"

namespace tutti::formula::barrier {
namespace {

/// With one port the messages of a round take turns.
double dissemination(const Problem& problem, double /*n*/, const Model& model) {
  const Knomial growth(problem.ranks, problem.values[0]);
  const std::uint64_t in_turn = model.one_port ? growth.degree() : growth.levels;
  return static_cast<double>(in_turn) * model.link.alpha;
}

/// An allreduce of 0 bytes.
double binomial(std::uint64_t p, double /*n*/, const Model& model) {
  return allreduce::binomial(p, 0, model);
}

Figures dissemination_figures(const Problem& problem, std::uint64_t /*n*/) {
  const Knomial growth(problem.ranks, problem.values[0]);
  return {.rounds = growth.levels, .messages = problem.ranks * growth.degree()};
}

Figures binomial_figures(std::uint64_t p, std::uint64_t /*n*/) {
  return {.rounds = 2 * ceil_log(p), .messages = 2 * (p - 1)};
}

constexpr std::array table{
    ClosedForm{.algorithm = "barrier/dissemination",
               .rounds = "⌈log_k p⌉",
               .bytes = "0",
               .most_in_a_round = "0",
               .seconds = "Mα with M = ⌈p/k^(R−1)⌉−1 + (k−1)(R−1), R = ⌈log_k p⌉",
               .figures = figures<dissemination_figures>,
               .time = time<dissemination>},
    ClosedForm{.algorithm = "barrier/binomial",
               .rounds = "2L",
               .bytes = "0",
               .most_in_a_round = "0",
               .seconds = "2Lα",
               .figures = figures<binomial_figures>,
               .time = time<binomial>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::barrier
