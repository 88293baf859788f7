#include <memory>

#include <tutti/error.hpp>
#include <tutti/network/network_file.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/text_file.hpp"
#include "cli/picture/drawn_schedule.hpp"
#include "cli/picture/underlay.hpp"
#include "render/network_drawing.hpp"
#include "render/recording_drawing.hpp"
#include "render/schedule_drawing.hpp"
#include "render/schedule_page.hpp"
#include "render/storyboard.hpp"
#include "render/timeline.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::string name;
  std::string file;
  std::string trace;
  ProblemOptions problem;
  std::string rounds;
  bool timeline = false;
  std::string network;
  UnderlayOptions on_network;
  std::string output;
};

enum class Format { svg, html };

/// By the suffix of the file. Standard output gets SVG.
Format format_of(const std::string& path) {
  const auto ends_with = [&](std::string_view end) {
    return path.size() >= end.size() &&
           path.compare(path.size() - end.size(), end.size(), end) == 0;
  };
  if (path == "-" || ends_with(".svg")) return Format::svg;
  if (ends_with(".html") || ends_with(".htm")) return Format::html;
  throw Error(
      ErrorCode::invalid_argument,
      "draw what into '" + path + "'? Name a file that ends in .svg, or in .html for a player.");
}

/// The number of ranks of a schedule before it is built.
Contract chosen_contract(const Options& options) {
  const Algorithm& algorithm = algorithm_named(options.name);
  return algorithm.contract(options.problem.problem(algorithm));
}

DrawnSchedule chosen_schedule(const Options& options) {
  if (options.name.empty() == options.file.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "draw what? Name one algorithm, such as allreduce/ring, or add --file FILE.");
  }
  if (!options.file.empty()) return schedule_in_file(options.file);
  const Algorithm& algorithm = algorithm_named(options.name);
  return schedule_of(algorithm, options.problem.problem(algorithm));
}

std::string draw_rounds(const Options& options) {
  if (!options.name.empty()) render::require_drawable(options.name, chosen_contract(options));
  DrawnSchedule drawn = chosen_schedule(options);
  const render::Storyboard story = render::storyboard(drawn.schedule);
  if (format_of(options.output) == Format::html) {
    return render::schedule_page(story, drawn.caption);
  }
  const std::vector<std::uint32_t> rounds =
      options.rounds.empty() ? render::usual_rounds(story.rounds()) : parse_ranges(options.rounds);
  if (options.rounds.empty() && rounds.size() <= story.rounds()) {
    drawn.caption.lines.emplace_back(
        "Some rounds are left out; -o FILE.html shows all, --rounds selects others.");
  }
  return render::draw_schedule(story, drawn.caption, rounds);
}

/// A schedule for all ranks of the network, unless -p is given.
DrawnSchedule schedule_for(const Options& options, std::uint32_t ranks) {
  Options filled = options;
  if (filled.problem.ranks == 0 && filled.problem.shape.empty()) filled.problem.ranks = ranks;
  if (!filled.name.empty() && filled.problem.rank_count() > ranks) {
    throw Error(ErrorCode::invalid_argument, std::to_string(filled.problem.rank_count()) +
                                                 " ranks on a network of " + std::to_string(ranks) +
                                                 ": ask for fewer, or for a larger network");
  }
  return chosen_schedule(filled);
}

std::string draw_on_network(const Options& options) {
  if (format_of(options.output) == Format::html) {
    throw Error(ErrorCode::unsupported,
                "HTML shows only rounds; with --topo, name a file that ends in .svg");
  }
  if (!options.rounds.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        "the load of links is drawn for all rounds together; leave out --rounds, or --topo");
  }
  const Network network = load_network(options.network);
  if (options.timeline) {
    render::require_drawable(network.rank_count());
  } else {
    render::require_drawable(network);
  }
  const DrawnSchedule drawn = schedule_for(options, network.rank_count());
  return options.timeline ? draw_timeline(drawn, network, options.on_network)
                          : draw_load(drawn, network, options.on_network);
}

/// What a program, `tutti sim --trace` or a browser has recorded.
std::string draw_recorded(const Options& options) {
  if (!options.name.empty() || !options.file.empty() || !options.network.empty() ||
      options.timeline || !options.rounds.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "a trace is drawn by itself: with --trace, give no algorithm, and of the other "
                "options only -o");
  }
  if (format_of(options.output) == Format::html) {
    throw Error(ErrorCode::unsupported, "with --trace, name a file that ends in .svg");
  }
  return render::draw_recording(render::parse_recording(read_text(options.trace)));
}

std::string draw(const Options& options) {
  if (!options.trace.empty()) return draw_recorded(options);
  if (!options.network.empty()) return draw_on_network(options);
  if (options.timeline) {
    throw Error(ErrorCode::invalid_argument,
                "a timeline of which network? Add --topo, such as --topo star:p=8.");
  }
  return draw_rounds(options);
}

}  // namespace

void add_draw(Command tutti) {
  const Command command = tutti.command(
      "draw",
      "draw a schedule round by round, its load on a network, its timeline, or a recorded one");
  auto options = std::make_shared<Options>();
  command.option("algorithm", options->name, "such as allreduce/ring");
  command.option("--file", options->file, "a schedule in JSON; - is standard input");
  command.option("--trace", options->trace,
                 "a timeline in the trace format of Chrome: FILE.json; - is standard input");
  options->problem.add(command);
  command.option("--rounds", options->rounds,
                 "which rounds to draw: 3, 1-5 (default: all, or some of many)");
  command.option("--topo", options->network,
                 "draw the load of the links of a network: torus:4x4, FILE.json");
  command.flag("--timeline", options->timeline, "simulate on the network and draw the timeline");
  command.option("--size", options->on_network.size, "size of the data, with --topo")
      .shows_default();
  command
      .option("--alpha", options->on_network.alpha,
              "seconds per message, in addition to latency: 1us")
      .shows_default();
  command.option("--gamma", options->on_network.gamma, "seconds per byte added, or a rate: 20GB/s")
      .shows_default();
  command
      .option("--ports", options->on_network.ports,
              "messages at once per rank each way; 0: any number")
      .shows_default();
  command
      .option("-o,--output", options->output,
              "FILE.svg, or FILE.html for a player; - is standard output, as SVG")
      .required();
  command.action([options] {
    write_text(options->output, draw(*options));
    return success;
  });
}

}  // namespace tutti::cli
