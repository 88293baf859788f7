#include "select/effort.hpp"

#include <algorithm>

#include <tutti/schedule/closed_form.hpp>

namespace tutti {
namespace {

/// Closed forms need chunks of equal length, so the size is rounded up to a multiple. This matters
/// only for short data, whose time hardly depends on its length.
std::uint64_t divisible(const Algorithm& algorithm, const Problem& problem, std::uint64_t bytes) {
  const std::uint64_t chunks = algorithm.collective == Collective::alltoall
                                   ? problem.ranks
                                   : std::max<std::uint64_t>(algorithm.chunk_count(problem), 1);
  return (bytes + chunks - 1) / chunks * chunks;
}

/// The figures of a schedule, and its critical path with one port.
struct Counted {
  Figures figures;
  double messages = 0;
  double bytes = 0;
};

Counted by_formula(const ClosedForm& form, const Algorithm& algorithm, const Problem& problem,
                   std::uint64_t bytes) {
  const std::uint64_t n = divisible(algorithm, problem, bytes);
  const Problem whole = algorithm.completed(problem);
  const Figures figures = form.figures(whole, n);
  // Without a formula for this number of ranks, the ranks are assumed to move in lockstep.
  return {.figures = figures,
          .messages =
              form.time(whole, n, {.alpha = 1, .beta = 0}, 0, Ports::one).value_or(figures.rounds),
          .bytes = form.time(whole, n, {.alpha = 0, .beta = 1}, 0, Ports::one)
                       .value_or(static_cast<double>(figures.most_received))};
}

Counted by_counting(const Method& method, const Problem& problem, std::uint64_t bytes) {
  if (problem.ranks > most_priced_ranks) {
    const ScheduleSource source = method.source(problem);
    const Figures figures = count(source, even_layout(source.contract, bytes));
    return {.figures = figures,
            .messages = static_cast<double>(figures.rounds),
            .bytes = static_cast<double>(figures.most_received)};
  }
  const Schedule schedule = method.build(problem);
  const Layout layout = even_layout(schedule.contract, bytes);
  const Pricer pricer(schedule);
  const auto time = [&](const LinkCost& link) {
    return pricer.price(layout, {.link = link, .inside = link}, Ports::one).seconds;
  };
  return {.figures = count(schedule, layout),
          .messages = time({.alpha = 1, .beta = 0}),
          .bytes = time({.alpha = 0, .beta = 1})};
}

Effort effort_of(const Counted& counted, double cores) {
  const Figures& figures = counted.figures;
  const auto share = [&](std::uint64_t all) { return static_cast<double>(all) / cores; };
  Effort effort;
  auto& counts = effort.counts;
  counts[Effort::calls] = 1;
  counts[Effort::rounds] = figures.rounds;
  counts[Effort::messages] = counted.messages;
  counts[Effort::bytes] = counted.bytes;
  counts[Effort::busiest_bytes] =
      static_cast<double>(figures.most_sent) + static_cast<double>(figures.most_received);
  counts[Effort::busiest_reduced] = static_cast<double>(figures.most_reduced);
  counts[Effort::core_messages] = share(figures.messages);
  counts[Effort::core_bytes] = share(figures.bytes);
  counts[Effort::core_reduced] = share(figures.reduced);
  return effort;
}

}  // namespace

Effort effort(const Method& method, const Problem& problem, std::uint64_t bytes,
              std::uint32_t cores) {
  const Algorithm* const row = method.algorithm();
  const ClosedForm* const form = row == nullptr ? nullptr : find_closed_form(row->name);
  const Counted counted = form != nullptr ? by_formula(*form, *row, problem, bytes)
                                          : by_counting(method, problem, bytes);
  return effort_of(counted, std::max(1U, std::min(cores, problem.ranks)));
}

}  // namespace tutti
