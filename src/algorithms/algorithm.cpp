#include <algorithm>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/schedule/algorithm.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

void require(const Algorithm& algorithm, const Problem& problem) {
  const std::string reason = algorithm.refusal(problem);
  if (!reason.empty()) throw Error(ErrorCode::unsupported, reason);
}

std::string dimensions_wanted(const Algorithm& algorithm) {
  const auto [least, most] = algorithm.dimensions;
  return least == most ? std::to_string(least)
                       : std::to_string(least) + " or " + std::to_string(most);
}

/// Why the shape of the problem does not fit; empty if it does.
std::string fault_of_shape(const Algorithm& algorithm, const Problem& problem) {
  const std::string need = std::string(algorithm.name) + " needs a shape of " +
                           dimensions_wanted(algorithm) + " dimensions for " +
                           std::to_string(problem.ranks) + " ranks";
  const std::string cure = "; use --shape " + to_string(squarest(problem.ranks));
  const std::size_t count = problem.shape.dimensions.size();
  if (problem.shape.empty()) return need + cure;
  if (count < algorithm.dimensions.least || count > algorithm.dimensions.most) {
    return need + ", but " + to_string(problem.shape) + " has " + std::to_string(count) + cure;
  }
  if (problem.shape.size() != problem.ranks) {
    return need + ", but " + to_string(problem.shape) + " is for " +
           std::to_string(problem.shape.size()) + " ranks" + cure;
  }
  return "";
}

}  // namespace

std::string Algorithm::refusal(const Problem& problem) const {
  const std::string wrong_shape = needs_shape() ? fault_of_shape(*this, problem) : "";
  if (!wrong_shape.empty() || supports == nullptr || supports(problem)) return wrong_shape;
  return std::string(name) + " is for " + std::string(limits) + ", not for " +
         std::to_string(problem.ranks) +
         (problem.shape.empty() ? "" : " in the shape " + to_string(problem.shape));
}

Contract Algorithm::contract(const Problem& problem) const {
  require(*this, problem);
  const Contract contract{.collective = collective,
                          .ranks = problem.ranks,
                          .root = has_root(collective) ? problem.root : Rank{0},
                          .chunks = problem.ranks == 0 ? 0 : chunks(problem)};
  contract.check();
  return contract;
}

Program Algorithm::program(const Problem& problem, Rank self) const {
  (void)contract(problem);
  if (self.index() >= problem.ranks) {
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(self.index()) + " is not one of the " +
                    std::to_string(problem.ranks) + " ranks of " + std::string(name));
  }
  return build(problem, self);
}

Schedule Algorithm::schedule(const Problem& problem) const {
  Schedule schedule{.name = std::string(name), .contract = contract(problem), .programs = {}};
  schedule.programs.reserve(problem.ranks);
  for (std::uint32_t r = 0; r < problem.ranks; ++r) {
    schedule.programs.push_back(build(problem, Rank{r}));
  }
  return schedule;
}

std::span<const Algorithm> algorithms(Collective collective) {
  const auto all = algorithms();
  const auto is_one = [&](const Algorithm& each) { return each.collective == collective; };
  const auto first = std::find_if(all.begin(), all.end(), is_one);
  const auto last = std::find_if_not(first, all.end(), is_one);
  return {first, last};
}

const Algorithm& algorithm(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Algorithm& each : algorithms()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw Error(ErrorCode::invalid_argument, "no algorithm is called '" + std::string(name) + "'." +
                                               did_you_mean(name, names) +
                                               " 'tutti list' shows them all.");
}

}  // namespace tutti
