#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string_view>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/sim/simulation_json.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text_file.hpp"
#include "cli/simulation/case.hpp"
#include "cli/simulation/entry.hpp"
#include "cli/simulation/places.hpp"
#include "cli/simulation/report.hpp"
#include "cli/simulation/sweep.hpp"
#include "core/quantity.hpp"
#include "core/workers.hpp"
#include "render/timeline.hpp"
#include "sim/busiest_links.hpp"

namespace tutti::cli {
namespace {

struct Options : SimOptions {
  bool all = false;
  bool sweep = false;
  std::string from = "1KiB";
  std::string to = "256MiB";
  bool json = false;
  std::string svg;
  std::string trace;
};

/// The shapes to try for an algorithm that needs one: that of --shape; for an algorithm that was
/// named, the first that the network has; otherwise those of the network and all of two dimensions.
std::vector<Problem> problems_for(const Algorithm& algorithm, const Options& options,
                                  const Network& network, bool every_shape) {
  const Problem usual = options.problem.problem(algorithm);
  if (!algorithm.needs_shape() || !options.problem.shape.empty()) return {usual};
  const std::vector<Rank> places = parse_places(options.place, usual.ranks, network);
  const std::vector<Shape> shapes = shapes_on(network, usual.ranks, places, every_shape);
  std::vector<Problem> problems;
  for (const Shape& shape : shapes) {
    Problem problem = usual;
    problem.shape = shape;
    if (algorithm.refusal(problem).empty()) problems.push_back(std::move(problem));
    if (!every_shape && !problems.empty()) break;
  }
  if (problems.empty()) problems.push_back(usual);
  return problems;
}

/// The named algorithms, or with --all all algorithms of their collectives, with every shape that
/// fits. An algorithm that has no schedule for this many ranks is left out unless it was named.
std::vector<SimEntry> entries_of(const Options& options, const Network& network) {
  if (options.names.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "simulate what? Name an algorithm, such as allreduce/ring, or add --schedule FILE");
  }
  std::vector<SimEntry> entries;
  for (const std::string& name : joined_names(options.names)) {
    const bool one = name.find('/') != std::string::npos;
    const std::string group = options.all ? name.substr(0, name.find('/')) : name;
    for (const Algorithm* each : algorithms_named(group)) {
      const bool every_shape = !one || options.all;
      for (const Problem& problem : problems_for(*each, options, network, every_shape)) {
        if (!each->refusal(problem).empty() && every_shape) continue;
        entries.push_back({.algorithm = each, .problem = problem});
      }
    }
  }
  return entries;
}

/// Progress of one long simulation.
class Watched {
 public:
  SimulationProgress progress() {
    return [this](std::uint64_t arrived, std::uint64_t messages) {
      if (!shown_) shown_ = std::make_unique<Progress>("simulating", messages);
      shown_->advance(arrived - told_);
      told_ = arrived;
    };
  }

 private:
  std::unique_ptr<Progress> shown_;
  std::uint64_t told_ = 0;
};

SimReport simulate_one(const SimNetwork& on, const ScheduleSource& source, const Options& options) {
  const std::uint64_t size = parse_bytes(options.size);
  SimulationSettings settings = settings_of(options, source.contract.ranks, on.network());
  settings.records = !options.svg.empty() || !options.trace.empty();
  constexpr std::uint32_t intervals = 200;
  if (settings.records || options.json) settings.intervals = intervals;
  Routes routes = on.routes();
  Watched watched;
  SimReport report{.name = source.name, .contract = source.contract, .size = size};
  report.simulation = simulate(on.network(), routes, source, even_layout(source.contract, size),
                               settings, watched.progress());
  report.shares = on.shares(source.contract, size, report.simulation.seconds);
  return report;
}

void to_standard_output(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void show_one(const SimNetwork& on, const ScheduleSource& source, const Options& options) {
  const SimReport report = simulate_one(on, source, options);
  if (!options.trace.empty()) {
    write_text(options.trace, to_chrome_trace(report.simulation, on.network()));
  }
  if (!options.svg.empty()) {
    const render::Caption caption{
        .title = report.name + " on " + on.network().name,
        .lines = {std::to_string(report.contract.ranks) + " ranks, " + format_bytes(report.size)}};
    write_text(options.svg, render::draw_timeline(report.simulation, on.network(), caption));
  }
  const bool elsewhere = options.trace == "-" || options.svg == "-";
  if (elsewhere) return;
  if (options.json) {
    write_report_json(report, on.network(), on.rules_as_json(), to_standard_output);
  } else {
    to_standard_output(report_text(report, on.network(), on.rules()));
  }
}

/// The time of each entry at one size.
std::vector<SimReport> simulate_each(const SimNetwork& on, const std::vector<SimEntry>& entries,
                                     const Options& options, std::uint64_t size,
                                     Progress& progress) {
  std::vector<SimReport> reports(entries.size());
  in_parallel(entries.size(), [&](std::size_t i) {
    const ScheduleSource source = source_of(*entries[i].algorithm, entries[i].problem);
    Routes routes = on.routes();
    SimReport& report = reports[i];
    report = {.name = entries[i].name(), .contract = source.contract, .size = size};
    try {
      report.simulation = simulate(on.network(), routes, source, even_layout(source.contract, size),
                                   settings_of(options, source.contract.ranks, on.network()));
      report.shares = on.shares(source.contract, size, report.simulation.seconds);
    } catch (const Error& error) {
      // The others are simulated all the same.
      if (error.code() != ErrorCode::unsupported) throw;
      report.refusal = error.what();
      report.simulation.seconds = std::numeric_limits<double>::infinity();
    }
    progress.advance();
  });
  return reports;
}

void print_ranking(const std::vector<SimReport>& reports, const SimNetwork& on) {
  TextTable table({{"algorithm", TextTable::Align::left},
                   {"time", TextTable::Align::right},
                   {"of bound", TextTable::Align::right},
                   {"of composition", TextTable::Align::right},
                   {"busiest link", TextTable::Align::left},
                   {"used", TextTable::Align::right},
                   {"critical path", TextTable::Align::right}});
  std::string refused;
  for (const SimReport& each : reports) {
    if (!each.refusal.empty()) {
      refused += "\n" + each.name + ": " + each.refusal + "\n";
      continue;
    }
    const auto busiest = busiest_links(each.simulation, on.network(), 1);
    table.add({each.name, format_seconds(each.simulation.seconds), percent(each.shares.bound),
               percent(each.shares.composition),
               busiest.empty() ? "" : on.network().describe(busiest.front().link),
               busiest.empty() ? "" : percent(busiest.front().utilisation),
               with_commas(each.simulation.critical_path.size())});
  }
  std::printf("%s, %u ranks, %s\n%s\n\n%s%s", on.network().name.c_str(),
              reports.front().contract.ranks, format_bytes(reports.front().size).c_str(),
              on.rules().c_str(), table.text().c_str(), refused.c_str());
  const bool bounded = std::any_of(reports.begin(), reports.end(), [](const SimReport& each) {
    return each.shares.bound.has_value();
  });
  if (bounded) std::puts("\nOf bound: of what no schedule exceeds with the same ports.");
}

void print_ranking_json(const std::vector<SimReport>& reports, const SimNetwork& on) {
  std::string_view before = "[";
  for (const SimReport& each : reports) {
    to_standard_output(before);
    write_report_json(each, on.network(), on.rules_as_json(), to_standard_output);
    before = ",\n";
  }
  to_standard_output("]\n");
}

/// Throws invalid_argument if --trace is given for several simulations.
void refuse_trace(const Options& options) {
  if (options.trace.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              "--trace is for one simulation; name one algorithm, and neither --all nor --sweep");
}

void rank_all(const SimNetwork& on, const std::vector<SimEntry>& entries, const Options& options) {
  refuse_trace(options);
  if (!options.svg.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "--svg draws one simulation or a sweep; name one algorithm, or add --sweep");
  }
  std::vector<SimReport> reports;
  {
    Progress progress("simulating", entries.size());
    reports = simulate_each(on, entries, options, parse_bytes(options.size), progress);
  }
  std::stable_sort(reports.begin(), reports.end(), [](const SimReport& a, const SimReport& b) {
    return a.simulation.seconds < b.simulation.seconds;
  });
  options.json ? print_ranking_json(reports, on) : print_ranking(reports, on);
}

void sweep(const SimNetwork& on, const std::vector<SimEntry>& entries, const Options& options) {
  refuse_trace(options);
  SimSweep found{.network = on.network().name,
                 .rules = on.rules(),
                 .rules_as_json = on.rules_as_json(),
                 .ranks = entries.front().problem.ranks,
                 .sizes = sizes_between(parse_bytes(options.from), parse_bytes(options.to)),
                 .names = {},
                 .seconds = std::vector<std::vector<double>>(entries.size())};
  if (found.sizes.empty()) {
    throw Error(ErrorCode::invalid_argument, "there is no size from " + options.from + " to " +
                                                 options.to + "; give a larger --to");
  }
  for (const SimEntry& each : entries) found.names.push_back(each.name());
  {
    Progress progress("simulating", entries.size() * found.sizes.size());
    for (const std::uint64_t size : found.sizes) {
      const auto reports = simulate_each(on, entries, options, size, progress);
      for (std::size_t i = 0; i < reports.size(); ++i) {
        found.seconds[i].push_back(reports[i].simulation.seconds);
      }
    }
  }
  if (!options.svg.empty()) write_text(options.svg, sweep_svg(found));
  if (options.svg == "-") return;
  std::fputs(options.json ? sweep_json(found).c_str() : sweep_text(found).c_str(), stdout);
}

void run(Options options) {
  const SimNetwork on(options);
  if (!options.file.empty()) {
    const Schedule schedule = schedule_from_text(read_text(options.file));
    show_one(on, tutti::source_of(schedule), options);
    return;
  }
  if (options.problem.ranks == 0 && options.problem.shape.empty()) {
    options.problem.ranks = on.network().rank_count();
  }
  const std::vector<SimEntry> entries = entries_of(options, on.network());
  if (entries.empty()) {
    throw Error(ErrorCode::unsupported,
                "no algorithm of that name has a schedule for this shape; try another --shape");
  }
  if (options.sweep) {
    sweep(on, entries, options);
  } else if (entries.size() > 1 || options.all) {
    rank_all(on, entries, options);
  } else {
    ScheduleSource source = source_of(*entries.front().algorithm, entries.front().problem);
    source.name = entries.front().name();
    show_one(on, source, options);
  }
}

}  // namespace

void add_sim(Command tutti) {
  const Command command =
      tutti.command("sim", "simulate schedules on a network in which messages share links");
  auto options = std::make_shared<Options>();
  options->add(command);
  command.flag("--all", options->all, "compare all algorithms of the collective");
  command.flag("--sweep", options->sweep, "simulate over sizes, to find the fastest for each");
  command.option("--from", options->from, "the smallest size of a sweep").text("SIZE (1KiB)");
  command.option("--to", options->to, "the largest size of a sweep").text("SIZE (256MiB)");
  command.json(options->json, "as JSON");
  command.option("--svg", options->svg, "write a timeline, or the chart of a sweep, as SVG")
      .text("FILE.svg");
  command
      .option("--trace", options->trace,
              "write every message for Perfetto (ui.perfetto.dev) or chrome://tracing")
      .text("FILE");
  command.action([options] {
    run(*options);
    return success;
  });
}

}  // namespace tutti::cli
