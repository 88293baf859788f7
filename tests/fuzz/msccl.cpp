#include <tutti/schedule/msccl.hpp>
#include <tutti/schedule/verify.hpp>

#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

/// Larger schedules take long to verify and find no other errors.
bool is_small(const Schedule& schedule) {
  constexpr std::uint64_t most = 2000;
  std::uint64_t chunks = schedule.contract.chunks * schedule.contract.ranks;
  for (const Program& program : schedule.programs) {
    for (const Step step : program) chunks += step.chunk_count();
  }
  return chunks < most;
}

}  // namespace

void try_msccl(std::string_view input) {
  const auto expected = {ErrorCode::invalid_argument, ErrorCode::unsupported};
  const auto schedule = attempt([&] { return schedule_from_msccl(input); }, expected);
  if (!schedule || !is_small(*schedule) || !verify(*schedule).ok()) return;
  // An export may exceed the limits of MSCCL, but what is exported can be imported.
  const auto text = attempt([&] { return to_msccl(*schedule); }, {ErrorCode::unsupported});
  if (!text) return;
  const std::optional<Schedule> again = attempt([&] { return schedule_from_msccl(*text); }, {});
  require(again.has_value(), "an exported algorithm is refused");
  require(again->contract == schedule->contract, "an exported algorithm is for another collective");
  require(verify(*again).ok(), "an exported algorithm is wrong");
}

}  // namespace tutti::test
