// Runs the same cases in SimGrid and in tutti's simulator, and compares results or speed.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <tutti/network/generator.hpp>
#include <tutti/sim/simulation.hpp>

#include "child.hpp"
#include "oracle_case.hpp"
#include "simgrid_run.hpp"

namespace tutti::oracle {
namespace {

double run_in_tutti(const Case& which, Sharing sharing, bool symmetry) {
  const Network network = generate(which.network);
  Routes routes(network);
  const ScheduleSource source = which.source();
  return simulate(network, routes, source, which.layout(source.contract),
                  {.ports = which.ports,
                   .sharing = sharing,
                   .places = which.places(),
                   .symmetry = symmetry})
      .seconds;
}

constexpr std::uint64_t mebibyte = 1U << 20;

/// A selection that is fast in SimGrid, or all cases.
std::vector<Case> cases_to_compare(bool all) {
  struct Where {
    const char* network;
    std::uint32_t ranks;
  };
  const Where networks[] = {
      {"star:64", 64}, {"fat_tree:k=8", 128}, {"torus:16x16", 256}, {"dragonfly:g=9,a=4,p=2", 72}};
  std::vector<Case> cases;
  for (const Where& where : networks) {
    for (const bool placed : {false, true}) {
      // With any other number of ranks, recursive doubling has ranks that send twice in a round.
      const std::uint32_t doubling = where.ranks == 72 ? 64 : where.ranks;
      const std::uint32_t few = std::min(where.ranks, 64U);
      const auto add = [&](const char* algorithm, std::uint32_t ranks, std::uint32_t ports) {
        cases.push_back({.network = where.network,
                         .algorithm = algorithm,
                         .ranks = ranks,
                         .size = 64 * mebibyte,
                         .placed = placed,
                         .ports = ports});
      };
      add("allreduce/ring", all || !placed ? where.ranks : few, 1);
      add("allreduce/recursive_doubling", doubling, 1);
      add("alltoall/mesh", few, 0);
      if (all) add("alltoall/pairwise", where.ranks, 1);
    }
  }
  return cases;
}

/// Prints the differences of both sharing modes from SimGrid. True if the weighted mode is within
/// the limit everywhere.
bool compare(bool all, Accuracy accuracy) {
  constexpr double enough = 0.01;
  bool good = true;
  double worst = 0;
  std::printf("%-61s %12s %12s %9s %9s %8s\n", "64 MiB", "SimGrid", "tutti", "weighted", "max-min",
              "took");
  for (const Case& each : cases_to_compare(all)) {
    const auto theirs = in_a_child([&] { return run_in_simgrid(each, Actors::two, accuracy); });
    if (!theirs) {
      std::printf("%-61s SimGrid failed\n", each.words().c_str());
      good = false;
      continue;
    }
    const double weighted = run_in_tutti(each, Sharing::latency_weighted, true);
    const double plain = run_in_tutti(each, Sharing::max_min, true);
    const double off = weighted / theirs->value - 1;
    worst = std::max(worst, std::abs(off));
    std::printf("%-61s %10.4fms %10.4fms %8.3f%% %8.2f%% %6.1f s%s\n", each.words().c_str(),
                theirs->value * 1e3, weighted * 1e3, off * 100, (plain / theirs->value - 1) * 100,
                theirs->wall, std::abs(off) <= enough ? "" : "  over the limit");
    good = good && std::abs(off) <= enough;
  }
  std::printf("weighted: at most %.3f%% from SimGrid; the limit is %.0f%%\n", worst * 100,
              enough * 100);
  return good;
}

struct Race {
  std::string what;
  Case which;
  bool symmetry;
  bool with_simgrid;
};

std::vector<Race> races() {
  const Case ring{
      .network = "star:1024", .algorithm = "allreduce/ring", .ranks = 1024, .size = 64 * mebibyte};
  Case uneven = ring;
  uneven.uneven = true;
  const Case torus{.network = "torus:16x16",
                   .algorithm = "allreduce/ring",
                   .ranks = 256,
                   .size = 64 * mebibyte,
                   .placed = true};
  Case wide = ring;
  wide.network = "star:65536";
  wide.ranks = 65536;
  Case halving = wide;
  halving.algorithm = "allreduce/halving_doubling";
  Case doubling = wide;
  doubling.algorithm = "allreduce/recursive_doubling";
  return {{"ring, star of 1024, by symmetry", ring, true, true},
          {"ring, star of 1024, all ranks", ring, false, true},
          {"ring, star of 1024, uneven sizes", uneven, false, true},
          {"ring, 16x16 torus, placed at random", torus, false, true},
          {"recursive doubling, star of 65,536", doubling, false, true},
          {"halving-doubling, star of 65,536", halving, false, true},
          {"ring, star of 65,536, by symmetry", wide, true, false}};
}

/// Every case whose results are compared, with every rank and port as SimGrid has them.
std::vector<Race> races_of_all_cases() {
  std::vector<Race> all;
  for (const Case& each : cases_to_compare(true)) {
    all.push_back({.what = each.words() + " " + std::to_string(each.ranks),
                   .which = each,
                   .symmetry = false,
                   .with_simgrid = true});
  }
  return all;
}

Outcome median(std::vector<Outcome> outcomes) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const Outcome& a, const Outcome& b) { return a.wall < b.wall; });
  return outcomes[outcomes.size() / 2];
}

/// Runs both simulators in turns, each in its own process; or tutti alone, in a hundredth of the
/// time.
bool race(const std::vector<Race>& races, int repeats, bool alone) {
  bool good = true;
  std::printf("%-58s %10s %9s %10s %9s %8s %10s\n", "64 MiB, median of turns", "SimGrid", "memory",
              "tutti", "memory", "ratio", "results");
  for (const Race& each : races) {
    const bool with_simgrid = each.with_simgrid && !alone;
    std::vector<Outcome> theirs;
    std::vector<Outcome> ours;
    for (int i = 0; i < repeats; ++i) {
      const auto mine = in_a_child(
          [&] { return run_in_tutti(each.which, Sharing::latency_weighted, each.symmetry); });
      if (mine) ours.push_back(*mine);
      if (!with_simgrid) continue;
      const auto other =
          in_a_child([&] { return run_in_simgrid(each.which, Actors::one, Accuracy::usual); });
      if (other) theirs.push_back(*other);
    }
    if (ours.empty() || (with_simgrid && theirs.empty())) {
      std::printf("%-58s failed\n", each.what.c_str());
      good = false;
      continue;
    }
    const Outcome mine = median(ours);
    if (!with_simgrid) {
      std::printf("%-58s %10s %9s %8.3f s %6.0f MB\n", each.what.c_str(), "", "", mine.wall,
                  mine.megabytes);
      continue;
    }
    const Outcome other = median(theirs);
    std::printf("%-58s %8.2f s %6.0f MB %8.3f s %6.0f MB %7.1fx %+9.3f%%\n", each.what.c_str(),
                other.wall, other.megabytes, mine.wall, mine.megabytes, other.wall / mine.wall,
                (mine.value / other.value - 1) * 100);
  }
  return good;
}

}  // namespace
}  // namespace tutti::oracle

int main(int argc, char** argv) {
  using namespace tutti::oracle;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto has = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (!words.empty() && words[0] == "compare") {
    return compare(has("all"), has("usual") ? Accuracy::usual : Accuracy::fine) ? 0 : 1;
  }
  if (!words.empty() && words[0] == "race") {
    const bool has_turns = words.size() > 1 && words[1] != "alone" && words[1] != "every";
    const int turns = has_turns ? std::atoi(words[1].c_str()) : 3;
    std::vector<Race> chosen = has("every") ? races_of_all_cases() : races();
    // "case=3": only the one of that number, from 0.
    for (const std::string& word : words) {
      if (!word.starts_with("case=")) continue;
      const auto number = static_cast<std::size_t>(std::atoi(word.c_str() + 5));
      chosen = {chosen.at(std::min(number, chosen.size() - 1))};
    }
    return race(chosen, turns, has("alone")) ? 0 : 1;
  }
  std::fprintf(stderr,
               "usage: oracle compare [all] [usual] | race [turns] [every] [alone] [case=N]\n");
  return 2;
}
