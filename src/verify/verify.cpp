#include <algorithm>
#include <array>

#include <tutti/error.hpp>
#include <tutti/schedule/verify.hpp>

#include "verify/order.hpp"
#include "verify/outputs.hpp"
#include "verify/races.hpp"
#include "verify/structure.hpp"
#include "verify/symbolic_run.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t most_verified = std::uint64_t{1} << 28;

/// Runs the schedule and reports violations. Returns true if all outputs are folds in order of
/// rank.
bool run(const Schedule& schedule, const Messages& messages, Aliasing aliasing,
         Findings& findings) {
  SymbolicRun symbolic(schedule, messages, aliasing);
  Findings conflicts;
  check_rounds(schedule, messages, conflicts);
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    const Rank self{r};
    check_races(schedule.program(self), symbolic.placement(self), symbolic.memory(self), self,
                conflicts);
  }
  const std::vector<Event> order =
      conflicts.empty() ? order_by_round(schedule) : order_by_dependence(symbolic, findings);
  findings.add(conflicts);
  for (const Event& event : order) symbolic.make(event.rank, event.step, findings);
  symbolic.copy_aside();
  return check_outputs(symbolic, findings);
}

/// The number of chunks that steps name or ranks hold, summed over all ranks. The run needs a few
/// bytes for each.
std::uint64_t extent(const Schedule& schedule) {
  std::uint64_t total = 0;
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    total += schedule.contract.input(r).count + schedule.contract.output(r).count;
    for (const Step step : schedule.programs[r]) {
      if (total > most_verified) return total;
      total += step.chunk_count() * std::max<std::uint64_t>(step.sources.size(), 1);
    }
  }
  return total;
}

void require_bounded(const Schedule& schedule) {
  if (extent(schedule) <= most_verified) return;
  throw Error(ErrorCode::unsupported,
              "'" + schedule.name +
                  "' is too large to verify: its steps and ranks name more than 2^28 chunks; "
                  "verify it with fewer ranks or chunks");
}

Verification verify_all(const Schedule& schedule, std::span<const Aliasing> aliasings) {
  Verification verdict;
  for (const Program& program : schedule.programs) {
    verdict.steps += program.size();
    for (const Step step : program) {
      if (step.kind == Step::Kind::send) verdict.messages += step.peers.size();
    }
  }
  schedule.contract.check();
  Findings findings;
  check_form(schedule, findings);
  if (findings.empty()) {
    require_bounded(schedule);
    const Messages messages(schedule);
    check_pairing(schedule, messages, findings);
    if (findings.empty()) {
      bool in_rank_order = true;
      for (const Aliasing aliasing : aliasings) {
        in_rank_order = run(schedule, messages, aliasing, findings) && in_rank_order;
      }
      verdict.folds_in_rank_order = in_rank_order && findings.empty();
    }
  }
  verdict.violation_count = findings.count();
  verdict.violations = std::move(findings.kept());
  return verdict;
}

}  // namespace

std::string_view name(Violation::Kind kind) {
  constexpr std::array<std::string_view, 9> names{
      "malformed", "unmatched", "chunk mismatch", "round mismatch", "race",
      "deadlock",  "unwritten", "wrong output",   "disagreement",
  };
  return names.at(static_cast<std::size_t>(kind));
}

Verification verify(const Schedule& schedule, Aliasing aliasing) {
  return verify_all(schedule, {&aliasing, 1});
}

Verification verify(const Schedule& schedule) {
  constexpr std::array both{Aliasing::out_of_place, Aliasing::in_place};
  return verify_all(schedule, both);
}

}  // namespace tutti
