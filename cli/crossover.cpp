#include <algorithm>
#include <cstdio>
#include <memory>

#include <tutti/error.hpp>
#include <tutti/schedule/crossover.hpp>
#include <tutti/schedule/price.hpp>

#include "cli/choice/crossover_command.hpp"
#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/text_file.hpp"
#include "cli/simulation/rules.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "render/chart.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  std::string first;
  std::string second;
  ProblemOptions problem;
  ModelOptions model;
  std::string from = "1";
  std::string to = "1TiB";
  bool unlimited = false;
  bool json = false;
  bool measure = false;
  std::string transport = "shm";
  std::string svg;
};

void name_both(Options& options) {
  const std::vector<std::string> names = joined_names(options.words);
  if (names.size() != 2) {
    throw Error(ErrorCode::invalid_argument,
                "name two algorithms: allreduce/ring allreduce/binomial, or allreduce ring tree");
  }
  options.first = names.front();
  options.second = names.back();
}

/// The size in bytes and in a decimal unit: computed sizes are seldom round.
std::string size_text(std::uint64_t size) {
  std::string text = with_commas(size) + " bytes";
  const double megabytes = static_cast<double>(size) / 1e6;
  char rounded[32];
  std::snprintf(rounded, sizeof rounded, megabytes < 1 ? "%.3g kB" : "%.4g MB",
                megabytes < 1 ? megabytes * 1e3 : megabytes);
  return size < 1000 ? text : text + " (" + rounded + ")";
}

Ports ports_of(const Options& options) { return options.unlimited ? Ports::unlimited : Ports::one; }

void print(const Options& options, const Crossover& crossing) {
  const std::string& below = crossing.first_wins_below ? options.first : options.second;
  const std::string& above = crossing.first_wins_above ? options.first : options.second;
  std::printf("%u ranks, %s, %s\n", options.problem.rank_count(), options.model.describe().c_str(),
              ports_in_words(ports_of(options)).c_str());
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
  std::puts(json_text(document, 2).c_str());
}

/// Both times over sizes, with the crossing in the middle of the picture.
std::string crossover_svg(const Options& options, const Schedule& first, const Schedule& second,
                          const Crossover& crossing) {
  const std::uint64_t least = std::max<std::uint64_t>(1, parse_bytes(options.from));
  const std::uint64_t most = std::max(least, parse_bytes(options.to));
  // A thousand times less to a thousand times more shows which one wins where.
  constexpr std::uint64_t around = 1024;
  const std::uint64_t from = crossing.size ? std::max(least, *crossing.size / around) : least;
  const std::uint64_t to =
      crossing.size ? (*crossing.size > most / around ? most : *crossing.size * around) : most;
  const CostModel model = options.model.model();
  const Ports ports = ports_of(options);
  render::ChartPanel panel{.title = "time", .y = render::Measure::seconds, .series = {}};
  for (const auto& [name, schedule] :
       {std::pair{options.first, &first}, std::pair{options.second, &second}}) {
    const Pricer pricer(*schedule);
    const Contract& contract = schedule->contract;
    render::ChartSeries series{.name = name, .points = {}};
    const auto add = [&](std::uint64_t size) {
      const double seconds = pricer.price(even_layout(contract, size), model, ports).seconds;
      if (seconds > 0) series.points.push_back({.x = static_cast<double>(size), .y = seconds});
    };
    for (std::uint64_t size = from; size<to; size = size> to / 2 ? to : 2 * size) add(size);
    add(to);
    panel.series.push_back(std::move(series));
  }
  if (crossing.size) {
    panel.marks.push_back(
        {.x = static_cast<double>(*crossing.size), .label = size_text(*crossing.size)});
  }
  const std::string& above = crossing.first_wins_above ? options.first : options.second;
  return render::to_svg(
      {.title = options.first + " and " + options.second,
       .subtitle = std::to_string(options.problem.rank_count()) + " ranks, " +
                   options.model.describe() + ", " + ports_in_words(ports_of(options)) +
                   (crossing.size ? "; " + above + " is faster from the mark on" : ""),
       .panels = {std::move(panel)}});
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
          .pairs = parse_transport(options.transport),
          .json = options.json};
}

void run(const Options& options) {
  const auto schedule = [&](const std::string& name) {
    const Algorithm& algorithm = algorithm_named(name);
    return built_schedule(algorithm, options.problem.problem(algorithm));
  };
  const Schedule first = schedule(options.first);
  const Schedule second = schedule(options.second);
  const Crossover crossing = crossover(first, second, options.model.model(), ports_of(options),
                                       parse_bytes(options.from), parse_bytes(options.to));
  if (!options.svg.empty()) {
    write_text(options.svg, crossover_svg(options, first, second, crossing));
  }
  if (options.svg == "-") return;
  options.json ? print_json(options, crossing) : print(options, crossing);
}

}  // namespace

void add_crossover(Command tutti, std::vector<std::string> words) {
  const Command command =
      tutti.command("crossover", "find the size at which one algorithm overtakes another");
  auto options = std::make_shared<Options>();
  command
      .option("algorithms", options->words,
              "two: allreduce/ring allreduce/binomial, or allreduce ring tree")
      .text("ALGORITHM...")
      .required();
  options->problem.add(command);
  options->model.add(command);
  command.option("--from", options->from, "the smallest size").text("SIZE (" + options->from + ")");
  command.option("--to", options->to, "the largest size").text("SIZE (" + options->to + ")");
  command.flag("--own-links", options->unlimited,
               "every message has a link of its own, at full bandwidth: no contention at all");
  command.flag("--measure", options->measure,
               "run both on this host, and show the predictions of the profile beside the times");
  command.option("--transport", options->transport, "how ranks then reach each other: shm or tcp")
      .shows_default();
  command.json(options->json, "as JSON");
  command.option("--svg", options->svg, "draw both times over sizes, with the crossover")
      .text("FILE.svg");
  command.action([options, words = std::move(words)] {
    name_both(*options);
    if (options->measure) return run_crossover(to_measure(*options), words);
    run(*options);
    return success;
  });
}

}  // namespace tutti::cli
