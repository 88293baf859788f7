#include <algorithm>
#include <cstdio>
#include <memory>

#include <tutti/error.hpp>
#include <tutti/schedule/crossover.hpp>

#include "cli/choice/crossover_command.hpp"
#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "core/json.hpp"
#include "core/quantity.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::string first;
  std::string second;
  ProblemOptions problem;
  ModelOptions model;
  std::string from = "1";
  std::string to = "1TiB";
  bool unlimited = false;
  bool json = false;
  bool measure = false;
  std::string pairs = "host";
};

/// The size in bytes and in a decimal unit: computed sizes are seldom round.
std::string size_text(std::uint64_t size) {
  std::string text = with_commas(size) + " bytes";
  const double megabytes = static_cast<double>(size) / 1e6;
  char rounded[32];
  std::snprintf(rounded, sizeof rounded, megabytes < 1 ? "%.3g kB" : "%.4g MB",
                megabytes < 1 ? megabytes * 1e3 : megabytes);
  return size < 1000 ? text : text + " (" + rounded + ")";
}

void print(const Options& options, const Crossover& crossing) {
  const std::string& below = crossing.first_wins_below ? options.first : options.second;
  const std::string& above = crossing.first_wins_above ? options.first : options.second;
  std::printf("%u ranks, %s, %s\n", options.problem.rank_count(), options.model.describe().c_str(),
              options.unlimited ? "any number of ports" : "one port each way");
  if (crossing.size) {
    std::printf("below %s: %s\nfrom there on: %s\n", size_text(*crossing.size).c_str(),
                below.c_str(), above.c_str());
  } else {
    std::printf("no crossover from %s to %s: %s is never slower\n", options.from.c_str(),
                options.to.c_str(), above.c_str());
  }
}

void print_json(const Options& options, const Crossover& crossing) {
  Json document;
  document["first"] = options.first;
  document["second"] = options.second;
  document["ranks"] = options.problem.rank_count();
  document["size"] = crossing.size ? Json(*crossing.size) : nullptr;
  document["faster_below"] = crossing.first_wins_below ? options.first : options.second;
  document["faster_above"] = crossing.first_wins_above ? options.first : options.second;
  std::puts(document.dump(2).c_str());
}

/// The range of sizes is narrower than for the formulas: it must be measurable.
CrossoverRequest to_measure(const Options& options) {
  const Algorithm& first = algorithm_named(options.first);
  const Algorithm& second = algorithm_named(options.second);
  if (first.collective != second.collective || first.needs_shape() || second.needs_shape()) {
    throw Error(ErrorCode::invalid_argument,
                "--measure needs two algorithms of the same collective that need no shape");
  }
  const std::uint64_t from = parse_bytes(options.from);
  const std::uint64_t to = parse_bytes(options.to);
  return {.task = {.first = &first,
                   .second = &second,
                   .from = std::max<std::uint64_t>(from, 8),
                   .to = std::min<std::uint64_t>(to, 16 << 20)},
          .ranks = options.problem.rank_count(),
          .pairs = parse_pairs(options.pairs),
          .json = options.json};
}

void run(const Options& options) {
  const auto schedule = [&](const std::string& name) {
    const Algorithm& algorithm = algorithm_named(name);
    return built_schedule(algorithm, options.problem.problem(algorithm));
  };
  const Crossover crossing =
      crossover(schedule(options.first), schedule(options.second), options.model.model(),
                options.unlimited ? Ports::unlimited : Ports::one, parse_bytes(options.from),
                parse_bytes(options.to));
  options.json ? print_json(options, crossing) : print(options, crossing);
}

}  // namespace

void add_crossover(Command tutti, std::vector<std::string> words) {
  const Command command =
      tutti.command("crossover", "find the size at which one algorithm overtakes another");
  auto options = std::make_shared<Options>();
  command.option("first", options->first, "such as allreduce/ring").required();
  command.option("second", options->second, "such as allreduce/binomial").required();
  options->problem.add(command);
  options->model.add(command);
  command.option("--from", options->from, "the smallest size").shows_default();
  command.option("--to", options->to, "the largest size").shows_default();
  command.flag("--many-ports", options->unlimited, "any number of messages at once per rank");
  command.flag("--measure", options->measure,
               "run both on this host, and show the predictions of the profile beside the times");
  command.option("--pairs", options->pairs, "how ranks then reach each other: host or loopback")
      .shows_default();
  command.flag("--json", options->json, "as JSON");
  command.action([options, words = std::move(words)] {
    if (options->measure) return run_crossover(to_measure(*options), words);
    run(*options);
    return success;
  });
}

}  // namespace tutti::cli
