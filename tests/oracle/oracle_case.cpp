#include "oracle_case.hpp"

#include <tutti/schedule/algorithm.hpp>

#include "support/random.hpp"

namespace tutti::oracle {

ScheduleSource Case::source() const {
  const Algorithm& rule = tutti::algorithm(algorithm);
  const Problem problem{.ranks = ranks};
  return {.name = algorithm,
          .contract = rule.contract(problem),
          .program = [&rule, problem](Rank rank) { return rule.program(problem, rank); },
          .one_rule = true};
}

Layout Case::layout(const Contract& contract) const {
  const Layout even = even_layout(contract, size);
  if (!uneven) return even;
  test::Random random(42);
  const std::uint64_t mean = even.total() / even.chunks();
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < even.chunks(); ++i) {
    sizes.push_back(mean / 2 + random.below(mean + 1));
  }
  return Layout::counted(sizes);
}

std::vector<Rank> Case::places() const {
  if (!placed) return {};
  std::vector<Rank> places;
  for (std::uint32_t r = 0; r < ranks; ++r) places.emplace_back(r);
  test::Random(7).shuffle(places);
  return places;
}

std::string Case::words() const {
  return algorithm + " on " + network + (uneven ? ", uneven" : "") + (placed ? ", placed" : "");
}

}  // namespace tutti::oracle
