#include <algorithm>

#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/schedule/verify.hpp>

#include "core/json_value.hpp"
#include "web/facade/damage.hpp"
#include "web/facade/explorer.hpp"

namespace tutti::web {
namespace {

Json describe(const Violation& violation) {
  Json entry{
      {"kind", name(violation.kind)}, {"rank", violation.rank}, {"message", violation.message}};
  if (violation.round) entry["round"] = *violation.round;
  if (violation.step) entry["step"] = *violation.step;
  if (violation.chunk) entry["chunk"] = violation.chunk->index();
  return entry;
}

}  // namespace

/// What verify() says of a schedule, with or without damage.
Json proof(Explorer& explorer, const JsonReader& arguments) {
  const Schedule& intact = explorer.schedule(read_schedule(arguments)).schedule();
  const std::vector<Damage> damages = read_damage(arguments);
  Schedule changed;
  if (!damages.empty()) changed = damaged(intact, damages);
  const Schedule& schedule = damages.empty() ? intact : changed;
  const Verification verdict = verify(schedule);
  Json violations = Json::array();
  for (const Violation& each : verdict.violations) violations.push_back(describe(each));
  return {{"ok", verdict.ok()},
          {"violations", std::move(violations)},
          {"violation_count", verdict.violation_count},
          {"steps", verdict.steps},
          {"messages", verdict.messages},
          {"folds_in_rank_order", verdict.folds_in_rank_order},
          {"hash", hash_text(content_hash(schedule))}};
}

/// Damages each message of the schedule in turn, "kind" by kind, and counts the damages that
/// verify() notices. At most "most" messages, evenly spread.
Json mutants(Explorer& explorer, const JsonReader& arguments) {
  const Schedule& intact = explorer.schedule(read_schedule(arguments)).schedule();
  const std::size_t all = numbered_messages(intact).size();
  const auto most = std::min<std::size_t>(all, arguments.value<std::size_t>("most", 200));
  Json rows = Json::array();
  for (const Damage::Kind kind : {Damage::Kind::drop, Damage::Kind::drop_send,
                                  Damage::Kind::drop_receive, Damage::Kind::resend}) {
    std::size_t caught = 0;
    for (std::size_t i = 0; i < most; ++i) {
      const Damage damage{.kind = kind, .message = i * all / most};
      if (!verify(damaged(intact, {damage}), Aliasing::out_of_place).ok()) ++caught;
    }
    rows.push_back({{"kind", name(kind)}, {"tried", most}, {"caught", caught}});
  }
  return {{"messages", all}, {"rows", std::move(rows)}};
}

}  // namespace tutti::web
