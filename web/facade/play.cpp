#include <algorithm>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_json.hpp>
#include <tutti/schedule/verify.hpp>

#include "core/json_value.hpp"
#include "render/paint.hpp"
#include "render/story.hpp"
#include "web/facade/damage.hpp"
#include "web/facade/explorer.hpp"
#include "web/facade/symbolic_play.hpp"

namespace tutti::web {
namespace {

Json series(const ChunkSeries& chunks) {
  return Json::array({chunks.first.index(), chunks.count, chunks.stride});
}

/// [from, to, adds, number, [first, count, first, count, …]]
Json describe(const Schedule& schedule, const MessageEnds& ends, std::size_t number) {
  const Step receive = schedule.program(ends.receive.rank)[ends.receive.step];
  Json ranges = Json::array();
  for (const ChunkRange& range : schedule.program(ends.send.rank)[ends.send.step].chunks) {
    ranges.push_back(range.first.index());
    ranges.push_back(range.count);
  }
  return Json::array({ends.send.rank, ends.receive.rank, receive.operands() > 1 ? 1 : 0, number,
                      std::move(ranges)});
}

/// True if a symbolic run is possible: the violations, if any, are in what is held, not in how
/// messages meet.
bool can_run(const Verification& verdict) {
  return std::all_of(verdict.violations.begin(), verdict.violations.end(), [](const Violation& v) {
    using Kind = Violation::Kind;
    return v.kind == Kind::unwritten || v.kind == Kind::wrong_output ||
           v.kind == Kind::disagreement || v.kind == Kind::race;
  });
}

/// The symbols from 1 on: contributions as pairs in one list, then folds as lists of operands.
Json describe(const Symbols& symbols, std::uint32_t last) {
  Json leaves = Json::array();
  Json folds = Json::array();
  for (std::uint32_t i = 1; i <= last; ++i) {
    const Symbol symbol{i};
    if (symbols.is_contribution(symbol)) {
      leaves.push_back(symbols.rank(symbol));
      leaves.push_back(symbols.chunk(symbol).index());
      continue;
    }
    Json operands = Json::array();
    for (const Symbol each : symbols.operands(symbol)) operands.push_back(each.index());
    folds.push_back(std::move(operands));
  }
  return {{"leaves", std::move(leaves)}, {"folds", std::move(folds)}};
}

void run_symbols(const Schedule& schedule, Json& answer) {
  SymbolicPlay run(schedule);
  std::uint32_t last = 0;
  Json start = Json::array();
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    const ChunkSeries input = schedule.contract.input(r);
    Json held = Json::array();
    for (std::uint64_t i = 0; i < input.count; ++i) {
      const Symbol symbol = run.input(r, input[i]);
      last = std::max(last, symbol.index());
      held.push_back(symbol.index());
    }
    start.push_back(std::move(held));
  }
  Json all = Json::array();
  for (std::uint32_t round = 0; round < schedule.rounds(); ++round) {
    Json changes = Json::array();  // Four numbers each, because objects are slow to parse.
    for (const Change& each : run.advance()) {
      last = std::max(last, each.symbol.index());
      changes.push_back(each.rank);
      changes.push_back(each.chunk.index());
      changes.push_back(each.variant.index());
      changes.push_back(each.symbol.index());
    }
    all.push_back(std::move(changes));
  }
  answer["start"] = std::move(start);
  answer["changes"] = std::move(all);
  answer["symbols"] = describe(run.symbols(), last);
}

}  // namespace

/// A schedule round by round: its messages, and the version of each chunk that a rank makes.
Json play(Explorer& explorer, const JsonReader& arguments) {
  const ScheduleInput input = read_schedule(arguments);
  const Schedule& intact = explorer.schedule(input).schedule();
  const std::vector<Damage> damages = read_damage(arguments);
  Schedule changed;
  if (!damages.empty()) changed = damaged(intact, damages);
  const Schedule& schedule = damages.empty() ? intact : changed;
  const Contract& contract = schedule.contract;
  Json answer{{"algorithm", input.algorithm->name},
              {"collective", name(contract.collective)},
              {"ranks", contract.ranks},
              {"root", contract.root},
              {"shape", Json(input.problem.shape.dimensions)},
              {"chunks", contract.chunks},
              {"rounds", schedule.rounds()}};
  Json inputs = Json::array();
  Json outputs = Json::array();
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    inputs.push_back(series(contract.input(r)));
    outputs.push_back(series(contract.output(r)));
  }
  answer["inputs"] = std::move(inputs);
  answer["outputs"] = std::move(outputs);
  Json messages = Json::array();
  for (std::uint32_t round = 0; round < schedule.rounds(); ++round) {
    messages.push_back(Json::array());
  }
  std::size_t number = 0;
  // Damage may leave sends without receives; the picture then shows the messages that were planned.
  for (const MessageEnds& each : numbered_messages(intact)) {
    const std::uint32_t round = intact.program(each.send.rank)[each.send.step].round;
    messages[round].push_back(describe(intact, each, number++));
  }
  answer["messages"] = std::move(messages);
  const bool runs = damages.empty() || can_run(verify(schedule, Aliasing::out_of_place));
  answer["runs"] = runs;
  if (runs) run_symbols(schedule, answer);
  return answer;
}

/// The schedule in words.
Json story(Explorer& explorer, const JsonReader& arguments) {
  const ScheduleInput input = read_schedule(arguments);
  const render::StorySubject subject{.summary = std::string(input.algorithm->summary),
                                     .order = std::string(input.algorithm->order)};
  return {
      {"text", render::story(explorer.schedule(input).schedule(), subject, render::Paint(false))}};
}

/// The schedule in the format of docs/schedule-json.md, with its damage.
Json schedule_text(Explorer& explorer, const JsonReader& arguments) {
  const Schedule& intact = explorer.schedule(read_schedule(arguments)).schedule();
  const std::vector<Damage> damages = read_damage(arguments);
  return {{"text", to_json(damages.empty() ? intact : damaged(intact, damages))}};
}

}  // namespace tutti::web
