#include <memory>

#include <tutti/error.hpp>
#include <tutti/network/network_file.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/text_file.hpp"
#include "cli/picture/drawn_schedule.hpp"
#include "cli/picture/underlay.hpp"
#include "core/quantity.hpp"
#include "render/hop_drawing.hpp"
#include "render/network_drawing.hpp"
#include "render/recording_drawing.hpp"
#include "render/schedule_drawing.hpp"
#include "render/schedule_page.hpp"
#include "render/storyboard.hpp"
#include "render/timeline.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  std::string name;  // Joined from the words.
  std::string file;
  std::string trace;
  ProblemOptions problem;
  std::string rounds;
  bool overlay = false;
  std::string zoom;
  std::uint32_t fold = 0;
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
                "draw what? Name one algorithm, such as allreduce/ring, or add --schedule FILE.");
  }
  if (!options.file.empty()) return schedule_in_file(options.file);
  const Algorithm& algorithm = algorithm_named(options.name);
  return schedule_of(algorithm, options.problem.problem(algorithm));
}

/// Ranks count from 0, unlike what parse_ranges() reads.
std::vector<std::uint32_t> parse_ranks(const std::string& text) {
  std::vector<std::uint32_t> ranks;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string item(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    const auto first = read_number(item.substr(0, dash));
    const auto last = dash == std::string::npos ? first : read_number(item.substr(dash + 1));
    constexpr std::uint32_t most = 1U << 16;
    if (!first || !last || *last < *first || *last > most) {
      throw Error(ErrorCode::invalid_argument,
                  "'" + text + "' is not a list of ranks; write for example 0-3,8");
    }
    for (std::uint32_t each = *first; each <= *last; ++each) ranks.push_back(each);
  }
  return ranks;
}

/// Who sends to whom, for any number of ranks.
std::string draw_overlay(const Options& options) {
  if (format_of(options.output) == Format::html) {
    throw Error(ErrorCode::unsupported,
                "HTML shows boxes, for at most 16 ranks; name a file that ends in .svg");
  }
  constexpr std::uint32_t most_ranks = 4096;
  if (!options.name.empty() && options.problem.rank_count() > most_ranks) {
    throw Error(ErrorCode::unsupported, "'" + options.name + "' on " +
                                            std::to_string(options.problem.rank_count()) +
                                            " ranks is too large to draw; use -p 4096 or fewer");
  }
  const DrawnSchedule drawn = chosen_schedule(options);
  render::HopPicture picture{.zoom = parse_ranks(options.zoom), .fold = options.fold};
  if (!options.rounds.empty()) picture.rounds = parse_ranges(options.rounds);
  if (!options.name.empty()) {
    picture.shape = options.problem.problem(algorithm(options.name)).shape;
  }
  return render::draw_hops(drawn.schedule, drawn.caption, picture);
}

/// True if boxes would be too many to be read, or what is asked for has none.
bool wants_overlay(const Options& options) {
  if (options.overlay || !options.zoom.empty() || options.fold != 0) return true;
  return !options.name.empty() && format_of(options.output) == Format::svg &&
         options.problem.rank_count() > render::most_drawn_ranks;
}

std::string draw_rounds(const Options& options) {
  if (wants_overlay(options)) return draw_overlay(options);
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
  if (options.name.empty() && options.file.empty() && !options.timeline) {
    return render::draw_network(network, {},
                                {.title = network.name,
                                 .lines = {in_plural(network.rank_count(), "rank") + ", " +
                                           in_plural(network.nodes.size(), "node") + ", " +
                                           in_plural(network.links.size(), "link") +
                                           "; name an algorithm to draw its load."}});
  }
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
  command.option("algorithm", options->words, "such as allreduce/ring").text("ALGORITHM");
  command.option("--schedule", options->file,
                 "a schedule in JSON or MSCCL's XML; - is standard input");
  command.option("--trace", options->trace,
                 "a timeline in the trace format of Chrome: FILE.json; - is standard input");
  options->problem.add(command);
  command.option("--rounds", options->rounds,
                 "which rounds to draw: 3, 1-5 (default: all, or some of many)");
  command.flag(
      "--overlay", options->overlay,
      "draw who sends to whom instead of boxes: rings as rings, trees as trees; so are more "
      "than 16 ranks");
  command.option("--zoom", options->zoom, "of the overlay, only the messages of these ranks: 0-3,8")
      .text("RANKS");
  command.option("--fold", options->fold, "draw so many ranks as one node of the overlay")
      .text("N")
      .between(1U, 1U << 16);
  command.option("--topo", options->network,
                 "draw a network, with the load of its links: torus:4x4, FILE.json");
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
              "messages at once per rank each way; 0: as many as links carry")
      .shows_default();
  command
      .option("--place", options->on_network.place,
              "where ranks run: order, random, random:SEED, 0,4,1 or A,C,B, file:PATH")
      .shows_default();
  command
      .option("-o,--output", options->output,
              "FILE.svg, or FILE.html for a player; - is standard output, as SVG")
      .required();
  command.action([options] {
    if (!options->words.empty()) options->name = algorithm_named(options->words).name;
    write_text(options->output, draw(*options));
    return success;
  });
}

}  // namespace tutti::cli
