#include "support/problems.hpp"

#include <algorithm>
#include <set>

namespace tutti {

void PrintTo(const Problem& problem, std::ostream* out) { *out << test::words(problem); }
void PrintTo(const Algorithm* algorithm, std::ostream* out) { *out << algorithm->name; }

}  // namespace tutti

namespace tutti::test {

std::string words(const Problem& problem) {
  std::string text = "p=" + std::to_string(problem.ranks) + " root=" + std::to_string(problem.root);
  if (!problem.shape.empty()) text += " shape=" + to_string(problem.shape);
  return text;
}

std::vector<const Algorithm*> every_algorithm() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& each : algorithms()) all.push_back(&each);
  return all;
}

std::string test_name(const Algorithm& algorithm) {
  std::string text(algorithm.name);
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::vector<Shape> shapes(std::uint32_t ranks, std::uint32_t dimensions) {
  if (dimensions == 1) return {Shape{{ranks}}};
  std::vector<Shape> found;
  for (std::uint32_t first = 1; first <= ranks; ++first) {
    if (ranks % first != 0) continue;
    for (Shape rest : shapes(ranks / first, dimensions - 1)) {
      rest.dimensions.insert(rest.dimensions.begin(), first);
      found.push_back(std::move(rest));
    }
  }
  return found;
}

std::vector<Problem> problems(const Algorithm& algorithm, std::uint32_t ranks) {
  std::vector<Problem> found;
  const std::uint32_t roots = has_root(algorithm.collective) ? ranks : 1;
  if (algorithm.needs_shape()) {
    for (std::uint32_t n = algorithm.dimensions.least; n <= algorithm.dimensions.most; ++n) {
      for (const Shape& shape : shapes(ranks, n)) {
        // Some of the roots: with all shapes there would be too many problems.
        for (const std::uint32_t root : std::set{0U, roots / 2, roots - 1}) {
          found.push_back({.ranks = ranks, .root = root, .shape = shape});
        }
      }
    }
    return found;
  }
  for (std::uint32_t root = 0; root < roots; ++root) {
    found.push_back({.ranks = ranks, .root = root, .shape = {}});
  }
  return found;
}

Problem random_problem(const Algorithm& algorithm, std::uint32_t most_ranks, Random& random) {
  return random.pick(problems(algorithm, 1 + random.below(most_ranks)));
}

Layout random_layout(std::uint64_t chunks, Random& random) {
  switch (random.below(3U)) {
    case 0:
      return Layout::equal(chunks, random.below(4U));
    case 1:
      return Layout::balanced(chunks, random.below(3 * chunks));
    default: {
      std::vector<std::uint64_t> sizes(chunks);
      for (std::uint64_t& size : sizes) size = random.one_in(3) ? 0 : random.below(5U);
      return Layout::counted(sizes);
    }
  }
}

Problem small_problem(const Algorithm& algorithm) {
  if (algorithm.needs_shape()) return {.ranks = 6, .root = {}, .shape = Shape{{2, 3}}};
  return {.ranks = 5, .root = {}, .shape = {}};
}

}  // namespace tutti::test
