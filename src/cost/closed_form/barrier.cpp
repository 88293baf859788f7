#include <array>

#include "cost/closed_form/formulas.hpp"

namespace tutti::formula::barrier {
namespace {

double dissemination(std::uint64_t p, double /*n*/, const Model& model) {
  return ceil_log(p) * model.link.alpha;
}

/// An allreduce of 0 bytes.
double binomial(std::uint64_t p, double /*n*/, const Model& model) {
  return allreduce::binomial(p, 0, model);
}

Figures dissemination_figures(std::uint64_t p, std::uint64_t /*n*/) {
  return {.rounds = ceil_log(p), .messages = p * ceil_log(p)};
}

Figures binomial_figures(std::uint64_t p, std::uint64_t /*n*/) {
  return {.rounds = 2 * ceil_log(p), .messages = 2 * (p - 1)};
}

constexpr std::array table{
    ClosedForm{.algorithm = "barrier/dissemination",
               .rounds = "L",
               .bytes = "0",
               .most_in_a_round = "0",
               .seconds = "Lα",
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
