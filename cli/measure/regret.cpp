#include "cli/measure/regret.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "cli/measure/arena.hpp"
#include "cli/measure/party.hpp"
#include "core/json_value.hpp"
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

/// A case, its candidates, and the time that it may need.
struct Heat {
  Collective collective{};
  std::uint64_t bytes = 0;
  std::vector<Candidate> ways{};

  [[nodiscard]] double fastest() const { return ways.front().expected.seconds; }
  /// Calls that are not worth a batch are made about five times.
  [[nodiscard]] double needed(double seconds) const {
    double sum = 0;
    for (const Candidate& each : ways) {
      const double calls = 5 * std::min(each.expected.seconds, 4 * fastest());
      sum += static_cast<double>(rounds) * std::max(seconds, calls);
    }
    return sum;
  }
};

RegretRow measure_row(Arena& arena, const Party& party, const Heat& heat, double seconds,
                      double time) {
  RegretRow row{.collective = heat.collective,
                .bytes = heat.bytes,
                .ranks = party.ranks,
                .pairs = party.reach.pairs};
  std::vector<Arena::Runner> runners;
  for (const Candidate& each : heat.ways) {
    Case what = case_of(each.method);
    what.shape = each.shape;
    what.count = count_for(heat.collective, what.dtype, heat.bytes, party.ranks);
    // An algorithm that is expected to be far behind is measured with a single call.
    const bool far_behind = each.expected.seconds > 3 * heat.fastest() && heat.fastest() > 1e-3;
    runners.push_back({.what = std::move(what),
                       .pace = far_behind
                                   ? Pace{.warm_ups = 0, .iterations = 1}
                                   : Pace{.seconds = seconds, .expected = each.expected.seconds}});
  }
  row.chosen = heat.ways.front().method.name();
  const std::vector<double> times = arena.race(
      runners, {.rounds = rounds, .hopeless = hopeless_regret, .halves = true, .seconds = time});
  for (std::size_t i = 0; i < runners.size(); ++i) {
    if (!std::isfinite(times[i])) continue;
    row.runners.push_back({.algorithm = runners[i].what.method_name(),
                           .seconds = times[i],
                           .expected = heat.ways[i].expected.seconds,
                           .modelled = heat.ways[i].expected.modelled});
  }
  sort(row.runners);
  return row;
}

/// The cases in order of size.
std::vector<Heat> heats(const RegretTask& task, const Selector& selector) {
  std::vector<Heat> found;
  for (const std::uint64_t bytes : task.sizes) {
    for (const Collective collective : task.collectives) {
      found.push_back({.collective = collective,
                       .bytes = bytes,
                       .ways = selector.candidates({.collective = collective, .bytes = bytes})});
    }
  }
  return found;
}

bool is_same_case(const RegretRow& a, const RegretRow& b) {
  return a.collective == b.collective && a.bytes == b.bytes && a.ranks == b.ranks &&
         a.pairs == b.pairs;
}

}  // namespace

const RegretRow::Runner& RegretRow::choice() const {
  return *std::find_if(runners.begin(), runners.end(),
                       [&](const Runner& each) { return each.algorithm == chosen; });
}

std::vector<RegretRow> combine(const std::vector<std::vector<RegretRow>>& runs) {
  std::vector<RegretRow> rows;
  std::vector<std::vector<std::vector<double>>> times;  // By row and runner.
  for (const std::vector<RegretRow>& run : runs) {
    for (const RegretRow& each : run) {
      const auto same = std::ranges::find_if(
          rows, [&](const RegretRow& known) { return is_same_case(known, each); });
      const auto at = static_cast<std::size_t>(same - rows.begin());
      if (same == rows.end()) {
        rows.push_back(each);
        rows.back().runners.clear();
        times.emplace_back();
      }
      std::vector<RegretRow::Runner>& known = rows[at].runners;
      for (const RegretRow::Runner& runner : each.runners) {
        const auto found =
            std::ranges::find(known, runner.algorithm, &RegretRow::Runner::algorithm);
        const auto which = static_cast<std::size_t>(found - known.begin());
        if (found == known.end()) {
          known.push_back(runner);
          times[at].emplace_back();
        }
        times[at][which].push_back(runner.seconds);
      }
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows[i].runners.size(); ++k) {
      rows[i].runners[k].seconds = typical(std::move(times[i][k]));
    }
    sort(rows[i].runners);
  }
  return rows;
}

std::vector<RegretRow> measure_regret(Communicator& communicator, const RegretTask& task,
                                      const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  const auto profile = std::make_shared<const Profile>(find_profile().profile);
  const Selector selector(ForecastCache(profile).get(party_of(communicator)),
                          rules_from_environment());
  Arena arena(communicator, *std::max_element(task.sizes.begin(), task.sizes.end()),
              BufferPair::Kind::shared);
  const std::vector<Heat> all = heats(task, selector);
  double needed = 0;
  for (const Heat& each : all) needed += each.needed(task.seconds);
  std::vector<RegretRow> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Heat& heat = all[i];
    const std::chrono::duration<double> spent = Clock::now() - begun;
    const double left = task.time - spent.count();
    const double own = heat.needed(task.seconds);
    // Two algorithms, each with a call to warm up and one to measure; an allreduce also in place.
    constexpr double least_calls = 8;
    const bool fits = arena.ask_leader(least_calls * heat.fastest() < left);
    if (fits) {
      rows.push_back(measure_row(arena, selector.forecast().party(), heat, task.seconds,
                                 left * std::min(1.0, own / needed)));
    }
    needed -= own;
    if (progress && arena.leads()) {
      progress(static_cast<double>(i + 1) / static_cast<double>(all.size()));
    }
  }
  std::ranges::stable_sort(rows, [&](const RegretRow& a, const RegretRow& b) {
    const auto place = [&](const RegretRow& row) {
      return std::ranges::find(task.collectives, row.collective) - task.collectives.begin();
    };
    return place(a) < place(b);
  });
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
  return json_text(list, 1) + "\n";
}

std::vector<RegretRow> read_regret(const std::string& text) {
  std::vector<RegretRow> rows;
  for (const JsonReader each : JsonReader::parse(text).elements()) {
    RegretRow row{.collective = parse_collective(each.at("collective").get<std::string>()),
                  .bytes = each.at("bytes").get<std::uint64_t>(),
                  .ranks = each.at("ranks").get<std::uint32_t>(),
                  .pairs = parse_pairs(each.at("pairs").get<std::string>()),
                  .chosen = each.at("chosen").get<std::string>()};
    for (const JsonReader runner : each.at("runners").elements()) {
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
