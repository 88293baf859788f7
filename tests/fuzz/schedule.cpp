#include <cmath>

#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/schedule/schedule_json.hpp>
#include <tutti/schedule/verify.hpp>

#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

/// Larger schedules take long to verify and find no other errors.
constexpr std::uint64_t most_chunks = 2000;

bool is_small(const Schedule& schedule) {
  std::uint64_t chunks = schedule.contract.chunks * schedule.contract.ranks;
  if (schedule.contract.chunks > most_chunks) return false;
  for (const Program& program : schedule.programs) {
    for (const Step step : program) {
      chunks += step.chunk_count() * (step.peers.size() + step.sources.size());
    }
  }
  return chunks < 10 * most_chunks;
}

/// Counts and prices a schedule that verify() accepts.
void price(const Schedule& schedule) {
  const Layout layout = even_layout(schedule.contract, 1000003);
  const CostModel model{.link = {.alpha = 1e-6, .beta = 1e-9}, .gamma = 1e-10};
  const Figures figures = count(schedule, layout);
  const Pricer pricer(schedule);
  const Price one = pricer.price(layout, model, Ports::one);
  const Price unlimited = pricer.price(layout, model, Ports::unlimited);
  for (const Price& each : {one, unlimited}) {
    require(std::isfinite(each.seconds) && each.seconds >= 0, "a price is not a valid time");
    require(each.messages <= figures.messages && each.bytes <= figures.bytes,
            "a critical path has more messages or bytes than the schedule");
  }
  require(unlimited.seconds <= one.seconds * (1 + 1e-9), "more ports make a schedule slower");
}

}  // namespace

void try_schedule(std::string_view input) {
  const auto schedule = attempt([&] { return schedule_from_json(input); });
  if (!schedule) return;
  require(schedule_from_json(to_json(*schedule)) == *schedule, "a schedule does not round-trip");
  if (is_small(*schedule) && verify(*schedule).ok()) price(*schedule);
}

}  // namespace tutti::test
