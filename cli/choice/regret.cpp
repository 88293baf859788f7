#include "cli/choice/regret.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "cli/choice/arena.hpp"
#include "cli/choice/party.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text.hpp"
#include "core/json.hpp"
#include "core/quantity.hpp"
#include "select/forecast_cache.hpp"
#include "select/selector.hpp"
#include "select/typical.hpp"

namespace tutti::cli {
namespace {

/// After a first round nobody is given more time who took this many times as long as the fastest.
constexpr double hopeless = 1.6;
constexpr std::size_t rounds = 3;

double quantile_of(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return quantile(values, part);
}

void sort(std::vector<RegretRow::Runner>& runners) {
  std::stable_sort(runners.begin(), runners.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
}

RegretRow measure_row(Arena& arena, const Selector& selector, Collective collective,
                      std::uint64_t bytes, double seconds) {
  const Party& party = selector.forecast().party();
  RegretRow row{.collective = collective,
                .bytes = bytes,
                .ranks = party.ranks,
                .pairs = std::string(name(party.reach.pairs))};
  const std::vector<Candidate> ways =
      selector.candidates({.collective = collective, .bytes = bytes});
  std::vector<Arena::Runner> runners;
  const double best = ways.front().expected.seconds;
  for (const Candidate& each : ways) {
    BenchCase what = case_of(each.method);
    what.shape = each.shape;
    what.count = count_for(collective, what.dtype, bytes, party.ranks);
    // Who is expected to lose by far is still looked at, but not for long.
    const bool far_behind = each.expected.seconds > 3 * best && best > 1e-3;
    runners.push_back(
        {.what = std::move(what),
         .pace = far_behind ? BenchPace{.warm_ups = 0, .iterations = 1}
                            : BenchPace{.seconds = seconds, .expected = each.expected.seconds}});
  }
  row.chosen = ways.front().method.name();
  const std::vector<double> times = arena.race(runners, rounds, hopeless);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    row.runners.push_back({.algorithm = runners[i].what.method_name(),
                           .seconds = times[i],
                           .expected = ways[i].expected.seconds,
                           .modelled = ways[i].expected.modelled});
  }
  sort(row.runners);
  return row;
}

std::string number(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// How far foretold times are from measured ones, over the chosen algorithms and over all that were
/// in the running.
std::string describe_residuals(const std::vector<RegretRow>& rows) {
  using Align = TextTable::Align;
  TextTable table({{"ranks", Align::right},
                   {"by", Align::left},
                   {"times", Align::right},
                   {"error: median", Align::right},
                   {"p90", Align::right},
                   {"measured/foretold: p10", Align::right},
                   {"p50", Align::right},
                   {"p90", Align::right},
                   {"model alone: median error", Align::right}});
  std::map<std::pair<std::uint32_t, std::string>, std::array<std::vector<double>, 3>> groups;
  for (const RegretRow& row : rows) {
    for (const RegretRow::Runner& each : row.runners) {
      if (each.seconds > hopeless * row.runners.front().seconds) continue;
      auto& [errors, ratios, model_errors] = groups[{row.ranks, row.pairs}];
      errors.push_back(std::abs(each.expected / each.seconds - 1));
      ratios.push_back(each.seconds / each.expected);
      model_errors.push_back(std::abs(each.modelled / each.seconds - 1));
    }
  }
  for (const auto& [group, lists] : groups) {
    const auto& [errors, ratios, model_errors] = lists;
    table.add({std::to_string(group.first), group.second, std::to_string(errors.size()),
               number("%.0f %%", 100 * quantile_of(errors, 0.5)),
               number("%.0f %%", 100 * quantile_of(errors, 0.9)),
               number("%.2f", quantile_of(ratios, 0.1)), number("%.2f", quantile_of(ratios, 0.5)),
               number("%.2f", quantile_of(ratios, 0.9)),
               number("%.0f %%", 100 * quantile_of(model_errors, 0.5))});
  }
  return table.text();
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

std::vector<RegretRow> measure_regret(Communicator& communicator, const RegretWishes& wishes) {
  const auto profile = std::make_shared<const Profile>(find_profile().profile);
  const Selector selector(ForecastCache(profile).get(party_of(communicator)),
                          rules_from_environment());
  Arena arena(communicator, *std::max_element(wishes.sizes.begin(), wishes.sizes.end()),
              BenchMemory::Kind::shared);
  std::optional<Progress> progress;
  if (arena.leads()) {
    progress.emplace("comparing, " + communicator.description(),
                     wishes.collectives.size() * wishes.sizes.size());
  }
  std::vector<RegretRow> rows;
  for (const Collective collective : wishes.collectives) {
    for (const std::uint64_t bytes : wishes.sizes) {
      rows.push_back(measure_row(arena, selector, collective, bytes, wishes.seconds));
      if (progress) progress->advance();
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
                    {"pairs", row.pairs},
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
                  .pairs = each.at("pairs").get<std::string>(),
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

std::string describe(const std::vector<RegretRow>& rows) {
  using Align = TextTable::Align;
  TextTable table({{"collective", Align::left},
                   {"ranks", Align::right},
                   {"by", Align::left},
                   {"size", Align::right},
                   {"chosen", Align::left},
                   {"time", Align::right},
                   {"foretold", Align::right},
                   {"fastest", Align::left},
                   {"time", Align::right},
                   {"regret", Align::right}});
  std::vector<double> regrets;
  for (const RegretRow& row : rows) {
    const RegretRow::Runner& best = row.runners.front();
    regrets.push_back(row.regret());
    table.add({std::string(name(row.collective)), std::to_string(row.ranks), row.pairs,
               format_bytes(row.bytes), row.chosen.substr(row.chosen.find('/') + 1),
               format_seconds(row.choice().seconds), format_seconds(row.choice().expected),
               best.algorithm.substr(best.algorithm.find('/') + 1), format_seconds(best.seconds),
               number("%.2f", row.regret())});
  }
  const auto within =
      std::count_if(regrets.begin(), regrets.end(), [](double regret) { return regret <= 1.10; });
  return table.text() + "\n" +
         number("%.1f %%", 100.0 * static_cast<double>(within) /
                               static_cast<double>(std::max<std::size_t>(regrets.size(), 1))) +
         " of " + std::to_string(regrets.size()) +
         " choices within 10 % of the fastest; the worst takes " +
         number("%.2f", quantile_of(regrets, 1)) + " times as long, 95 % at most " +
         number("%.2f", quantile_of(regrets, 0.95)) + " times\n\n" + describe_residuals(rows);
}

}  // namespace tutti::cli
