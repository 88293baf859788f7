#include "cli/explanation/numbers_json.hpp"

#include <tutti/schedule/trace.hpp>

#include "core/json_value.hpp"

namespace tutti::cli {
namespace {

Json held(const Schedule& schedule, const Trace& trace, const render::Numbers& numbers) {
  Json ranks = Json::array();
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    Json chunks = Json::array();
    for (std::uint64_t c = 0; c < schedule.contract.chunks; ++c) {
      chunks.push_back(Json(numbers.of(trace.symbols(), trace.held(r, Chunk{c}))));
    }
    ranks.push_back(std::move(chunks));
  }
  return ranks;
}

Json outputs(const Schedule& schedule, const Trace& trace, const render::Numbers& numbers) {
  Json ranks = Json::array();
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    Json own = Json::array();
    const ChunkSeries output = schedule.contract.output(r);
    for (std::uint64_t i = 0; i < output.count; ++i) {
      for (const double each : numbers.of(trace.symbols(), trace.held(r, output[i]))) {
        own.push_back(each);
      }
    }
    ranks.push_back(std::move(own));
  }
  return ranks;
}

}  // namespace

std::string numbers_json(const Schedule& schedule, const render::Numbers& numbers) {
  Trace trace(schedule);
  Json rounds = Json::array();
  rounds.push_back({{"round", 0}, {"held", held(schedule, trace, numbers)}});
  while (trace.round() < schedule.rounds()) {
    trace.advance();
    rounds.push_back({{"round", trace.round()}, {"held", held(schedule, trace, numbers)}});
  }
  Json document{{"algorithm", schedule.name},
                {"ranks", schedule.contract.ranks},
                {"chunks", schedule.contract.chunks}};
  document["rounds"] = std::move(rounds);
  document["output"] = outputs(schedule, trace, numbers);
  return json_text(document, 2) + "\n";
}

}  // namespace tutti::cli
