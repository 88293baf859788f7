#include "cli/choice/crossover_measured.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include <tutti/error.hpp>

#include "cli/choice/arena.hpp"
#include "cli/choice/party.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text.hpp"
#include "cli/launch/launcher.hpp"
#include "core/json.hpp"
#include "core/quantity.hpp"
#include "rendezvous/environment.hpp"

namespace tutti::cli {
namespace {

/// Every duel three times: as measured, as the profile foretells it, and by its model alone.
struct Findings {
  std::vector<Duel> measured;
  std::vector<Duel> foretold;
  std::vector<Duel> modelled;
};

Findings measure(Communicator& communicator, const MeasuredCrossover& wanted) {
  const Algorithm& first = algorithm(wanted.first);
  const Algorithm& second = algorithm(wanted.second);
  const Profile profile = find_profile().profile;
  const Forecast forecast(profile, party_of(communicator));
  const std::uint32_t ranks = communicator.size();
  Arena arena(communicator, wanted.to, BenchMemory::Kind::shared);
  std::optional<Progress> progress;
  const auto sizes = static_cast<std::uint64_t>(
      std::log2(static_cast<double>(wanted.to) / static_cast<double>(wanted.from)) + 1);
  if (arena.leads()) progress.emplace("measuring", sizes);
  Findings findings;
  for (std::uint64_t bytes = wanted.from; bytes <= wanted.to; bytes *= 2) {
    const auto runner = [&](const Algorithm& each) {
      BenchCase what{.collective = each.collective, .algorithm = std::string(each.name)};
      what.count = count_for(each.collective, what.dtype, bytes, ranks);
      const double expected = forecast.expect(each, {.ranks = ranks}, bytes).seconds;
      return Arena::Runner{.what = std::move(what),
                           .pace = {.seconds = 0.02, .expected = expected}};
    };
    const std::array<Arena::Runner, 2> runners{runner(first), runner(second)};
    const std::vector<double> times = arena.race(runners, 5, 1e9);
    const Expectation a = forecast.expect(first, {.ranks = ranks}, bytes);
    const Expectation b = forecast.expect(second, {.ranks = ranks}, bytes);
    findings.measured.push_back({.bytes = bytes, .first = times[0], .second = times[1]});
    findings.foretold.push_back({.bytes = bytes, .first = a.seconds, .second = b.seconds});
    findings.modelled.push_back({.bytes = bytes, .first = a.modelled, .second = b.modelled});
    if (progress) progress->advance();
  }
  return findings;
}

std::string in_words(const std::optional<double>& size) {
  if (!size) return "none";
  std::array<char, 32> text{};
  if (*size < 10240) {
    std::snprintf(text.data(), text.size(), "%.0f B", *size);
  } else {
    std::snprintf(text.data(), text.size(), *size < (10 << 20) ? "%.0f KiB" : "%.1f MiB",
                  *size < (10 << 20) ? *size / 1024 : *size / (1 << 20));
  }
  return text.data();
}

void print(const MeasuredCrossover& wanted, const Communicator& communicator,
           const Findings& findings) {
  using Align = TextTable::Align;
  TextTable table({{"size", Align::right},
                   {wanted.first, Align::right},
                   {"foretold", Align::right},
                   {wanted.second, Align::right},
                   {"foretold", Align::right}});
  for (std::size_t i = 0; i < findings.measured.size(); ++i) {
    const Duel& seen = findings.measured[i];
    const Duel& told = findings.foretold[i];
    table.add({format_bytes(seen.bytes), format_seconds(seen.first), format_seconds(told.first),
               format_seconds(seen.second), format_seconds(told.second)});
  }
  std::printf("%s\nby %s\n\n%s\n", communicator.description().c_str(),
              find_profile().origin.c_str(), table.text().c_str());
  std::printf("crossover: measured %s, foretold %s, by the model alone %s\n",
              in_words(crossing(findings.measured)).c_str(),
              in_words(crossing(findings.foretold)).c_str(),
              in_words(crossing(findings.modelled)).c_str());
}

void print_json(const MeasuredCrossover& wanted, const Findings& findings) {
  Json document{{"first", wanted.first}, {"second", wanted.second}};
  const auto add = [&](const char* name, const std::vector<Duel>& duels) {
    const std::optional<double> size = crossing(duels);
    Json list = Json::array();
    for (const Duel& each : duels) list.push_back({each.bytes, each.first, each.second});
    document[name] = {{"size", size ? Json(*size) : Json()}, {"times", std::move(list)}};
  };
  add("measured", findings.measured);
  add("foretold", findings.foretold);
  add("modelled", findings.modelled);
  std::puts(document.dump(2).c_str());
}

}  // namespace

std::optional<double> crossing(std::span<const Duel> duels) {
  const auto first_wins = [&](std::size_t i) { return duels[i].first < duels[i].second; };
  std::size_t wins = 0;
  for (std::size_t i = 0; i < duels.size(); ++i) wins += first_wins(i) ? 1 : 0;
  // So many are wrong if nobody overtakes anybody; and if somebody does before `i`.
  std::size_t fewest = std::min(wins, duels.size() - wins);
  std::size_t best = 0;
  std::size_t wins_below = 0;
  for (std::size_t i = 1; i < duels.size(); ++i) {
    wins_below += first_wins(i - 1) ? 1 : 0;
    const std::size_t wins_above = wins - wins_below;
    const std::size_t wrong =
        std::min((i - wins_below) + wins_above, wins_below + (duels.size() - i - wins_above));
    if (wrong >= fewest || first_wins(i - 1) == first_wins(i)) continue;
    fewest = wrong;
    best = i;
  }
  if (best == 0) return std::nullopt;
  const auto lead = [&](std::size_t i) { return std::log(duels[i].first / duels[i].second); };
  const double before = lead(best - 1);
  const double share = before / (before - lead(best));
  return std::exp(std::lerp(std::log(static_cast<double>(duels[best - 1].bytes)),
                            std::log(static_cast<double>(duels[best].bytes)), share));
}

int measure_crossover(const MeasuredCrossover& wanted, std::vector<std::string> words) {
  const Launch launched = read_environment(environment_variable);
  if (launched.how != Launch::How::alone && launched.size > 1) {
    Communicator communicator = Communicator::from_environment();
    const Findings findings = measure(communicator, wanted);
    if (communicator.rank() != 0) return success;
    wanted.json ? print_json(wanted, findings) : print(wanted, communicator, findings);
    return success;
  }
  const Pairs pairs = parse_pairs(wanted.pairs);
  if (pairs != Pairs::host && pairs != Pairs::loopback) {
    throw Error(ErrorCode::invalid_argument, "--measure starts ranks by host or loopback");
  }
  words.insert(words.begin(), own_program());
  const Job job{.ranks = wanted.ranks,
                .command = std::move(words),
                .variables = {{"TUTTI_TRANSPORT", pairs == Pairs::loopback ? "tcp" : "shm"}},
                .bind_cores = true,
                .speaker = "tutti crossover",
                .direct = true};
  return Launcher(job).run();
}

}  // namespace tutti::cli
