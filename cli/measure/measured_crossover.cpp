#include "cli/measure/measured_crossover.hpp"

#include <array>
#include <cmath>

#include "cli/measure/arena.hpp"
#include "cli/measure/party.hpp"
#include "core/json_value.hpp"

namespace tutti::measure {
namespace {

constexpr std::size_t rounds = 5;
constexpr double seconds_per_turn = 0.02;

}  // namespace

MeasuredCrossover measure_crossover(Communicator& communicator, const CrossoverTask& task,
                                    const Progress& progress) {
  const Profile profile = find_profile().profile;
  const Forecast forecast(profile, party_of(communicator));
  const std::uint32_t ranks = communicator.size();
  Arena arena(communicator, task.to, BufferPair::Kind::shared);
  const double sizes =
      std::floor(std::log2(static_cast<double>(task.to) / static_cast<double>(task.from))) + 1;
  MeasuredCrossover found{.first = std::string(task.first->name),
                          .second = std::string(task.second->name)};
  for (std::uint64_t bytes = task.from; bytes <= task.to; bytes *= 2) {
    const Expectation a = forecast.expect(*task.first, {.ranks = ranks}, bytes);
    const Expectation b = forecast.expect(*task.second, {.ranks = ranks}, bytes);
    const auto runner = [&](const Algorithm& each, const Expectation& expected) {
      Case what{.collective = each.collective, .algorithm = std::string(each.name)};
      what.count = count_for(each.collective, what.dtype, bytes, ranks);
      return Arena::Runner{.what = std::move(what),
                           .pace = {.seconds = seconds_per_turn, .expected = expected.seconds}};
    };
    const std::array<Arena::Runner, 2> runners{runner(*task.first, a), runner(*task.second, b)};
    const std::vector<double> times = arena.race(runners, {.rounds = rounds});
    found.measured.push_back({.bytes = bytes, .first = times[0], .second = times[1]});
    found.predicted.push_back({.bytes = bytes, .first = a.seconds, .second = b.seconds});
    found.modelled.push_back({.bytes = bytes, .first = a.modelled, .second = b.modelled});
    if (progress && arena.leads()) {
      progress(static_cast<double>(found.measured.size()) / sizes);
    }
  }
  return found;
}

std::string MeasuredCrossover::json() const {
  Json document{{"first", first}, {"second", second}};
  const auto add = [&](const char* name, const std::vector<Duel>& duels) {
    const std::optional<double> size = crossing(duels);
    Json list = Json::array();
    for (const Duel& each : duels) list.push_back({each.bytes, each.first, each.second});
    document[name] = {{"size", size ? Json(*size) : Json()}, {"times", std::move(list)}};
  };
  add("measured", measured);
  add("predicted", predicted);
  add("modelled", modelled);
  return json_text(document, 2) + "\n";
}

}  // namespace tutti::measure
