#include "measure/regret.hpp"

#include <algorithm>
#include <memory>

#include "core/json.hpp"
#include "measure/arena.hpp"
#include "measure/party.hpp"
#include "select/forecast_cache.hpp"
#include "select/selector.hpp"
#include "select/typical.hpp"

namespace tutti::measure {
namespace {

constexpr std::size_t rounds = 3;

void sort(std::vector<RegretRow::Runner>& runners) {
  std::stable_sort(runners.begin(), runners.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
}

RegretRow measure_row(Arena& arena, const Selector& selector, Collective collective,
                      std::uint64_t bytes, double seconds) {
  const Party& party = selector.forecast().party();
  RegretRow row{
      .collective = collective, .bytes = bytes, .ranks = party.ranks, .pairs = party.reach.pairs};
  const std::vector<Candidate> ways =
      selector.candidates({.collective = collective, .bytes = bytes});
  std::vector<Arena::Runner> runners;
  const double best = ways.front().expected.seconds;
  for (const Candidate& each : ways) {
    Case what = case_of(each.method);
    what.shape = each.shape;
    what.count = count_for(collective, what.dtype, bytes, party.ranks);
    // An algorithm that is expected to be far behind is measured with a single call.
    const bool far_behind = each.expected.seconds > 3 * best && best > 1e-3;
    runners.push_back({.what = std::move(what),
                       .pace = far_behind
                                   ? Pace{.warm_ups = 0, .iterations = 1}
                                   : Pace{.seconds = seconds, .expected = each.expected.seconds}});
  }
  row.chosen = ways.front().method.name();
  const std::vector<double> times = arena.race(runners, rounds, hopeless_regret);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    row.runners.push_back({.algorithm = runners[i].what.method_name(),
                           .seconds = times[i],
                           .expected = ways[i].expected.seconds,
                           .modelled = ways[i].expected.modelled});
  }
  sort(row.runners);
  return row;
}

}  // namespace

const RegretRow::Runner& RegretRow::choice() const {
  return *std::find_if(runners.begin(), runners.end(),
                       [&](const Runner& each) { return each.algorithm == chosen; });
}

std::vector<RegretRow> combine(const std::vector<std::vector<RegretRow>>& runs) {
  std::vector<RegretRow> rows = runs.front();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (RegretRow::Runner& runner : rows[i].runners) {
      std::vector<double> times;
      for (const std::vector<RegretRow>& run : runs) {
        for (const RegretRow::Runner& each : run[i].runners) {
          if (each.algorithm == runner.algorithm) times.push_back(each.seconds);
        }
      }
      runner.seconds = typical(std::move(times));
    }
    sort(rows[i].runners);
  }
  return rows;
}

std::vector<RegretRow> measure_regret(Communicator& communicator, const RegretTask& task,
                                      const Progress& progress) {
  const auto profile = std::make_shared<const Profile>(find_profile().profile);
  const Selector selector(ForecastCache(profile).get(party_of(communicator)),
                          rules_from_environment());
  Arena arena(communicator, *std::max_element(task.sizes.begin(), task.sizes.end()),
              BufferPair::Kind::shared);
  const auto total = static_cast<double>(task.collectives.size() * task.sizes.size());
  std::vector<RegretRow> rows;
  for (const Collective collective : task.collectives) {
    for (const std::uint64_t bytes : task.sizes) {
      rows.push_back(measure_row(arena, selector, collective, bytes, task.seconds));
      if (progress && arena.leads()) progress(static_cast<double>(rows.size()) / total);
    }
  }
  return rows;
}

std::string write(const std::vector<RegretRow>& rows) {
  Json list = Json::array();
  for (const RegretRow& row : rows) {
    Json runners = Json::array();
    for (const RegretRow::Runner& each : row.runners) {
      runners.push_back({{"algorithm", each.algorithm},
                         {"seconds", each.seconds},
                         {"expected", each.expected},
                         {"modelled", each.modelled}});
    }
    list.push_back({{"collective", name(row.collective)},
                    {"bytes", row.bytes},
                    {"ranks", row.ranks},
                    {"pairs", name(row.pairs)},
                    {"chosen", row.chosen},
                    {"regret", row.regret()},
                    {"runners", std::move(runners)}});
  }
  return list.dump(1) + "\n";
}

std::vector<RegretRow> read_regret(const std::string& text) {
  std::vector<RegretRow> rows;
  for (const Json& each : Json::parse(text)) {
    RegretRow row{.collective = parse_collective(each.at("collective").get<std::string>()),
                  .bytes = each.at("bytes").get<std::uint64_t>(),
                  .ranks = each.at("ranks").get<std::uint32_t>(),
                  .pairs = parse_pairs(each.at("pairs").get<std::string>()),
                  .chosen = each.at("chosen").get<std::string>()};
    for (const Json& runner : each.at("runners")) {
      row.runners.push_back({.algorithm = runner.at("algorithm").get<std::string>(),
                             .seconds = runner.at("seconds").get<double>(),
                             .expected = runner.at("expected").get<double>(),
                             .modelled = runner.at("modelled").get<double>()});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tutti::measure
