#include "select/effort.hpp"

#include <algorithm>

#include <tutti/closed_form.hpp>

namespace tutti {
namespace {

/// Closed forms are for chunks of equal length: what does not divide is made longer, which matters
/// only where data is short and its length does not.
std::uint64_t divisible(const Algorithm& algorithm, const Problem& problem, std::uint64_t bytes) {
  const std::uint64_t chunks = algorithm.collective == Collective::alltoall
                                   ? problem.ranks
                                   : std::max<std::uint64_t>(algorithm.chunks(problem), 1);
  return (bytes + chunks - 1) / chunks * chunks;
}

}  // namespace

Effort effort(const Algorithm& algorithm, const Problem& problem, std::uint64_t bytes,
              std::uint32_t cores) {
  const ClosedForm& form = closed_form(algorithm.name);
  const std::uint64_t n = divisible(algorithm, problem, bytes);
  const Figures figures = form.figures(problem, n);
  const double at_work = std::max(1U, std::min(cores, problem.ranks));
  const auto share = [&](std::uint64_t all) { return static_cast<double>(all) / at_work; };
  Effort effort;
  auto& counts = effort.counts;
  counts[Effort::calls] = 1;
  counts[Effort::rounds] = figures.rounds;
  // Where no formula is known for this many ranks, they move in step as well as anyone.
  counts[Effort::messages] =
      form.time(problem, n, {.alpha = 1, .beta = 0}, 0, Ports::one).value_or(figures.rounds);
  counts[Effort::bytes] = form.time(problem, n, {.alpha = 0, .beta = 1}, 0, Ports::one)
                              .value_or(static_cast<double>(figures.most_received));
  counts[Effort::busiest_bytes] =
      static_cast<double>(figures.most_sent) + static_cast<double>(figures.most_received);
  counts[Effort::busiest_reduced] = static_cast<double>(figures.most_reduced);
  counts[Effort::core_messages] = share(figures.messages);
  counts[Effort::core_bytes] = share(figures.bytes);
  counts[Effort::core_reduced] = share(figures.reduced);
  return effort;
}

}  // namespace tutti
