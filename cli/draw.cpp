#include <cstdio>
#include <memory>

#include <tutti/error.hpp>

#include "commands.hpp"
#include "drawn_schedule.hpp"
#include "options.hpp"
#include "render/schedule_drawing.hpp"
#include "render/schedule_page.hpp"
#include "text_file.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::string name;
  std::string file;
  ProblemOptions problem;
  std::string rounds;
  std::string output;
};

enum class Format { svg, html };

/// By the end of the file's name, as people expect; standard output gets SVG.
Format format_of(const std::string& path) {
  const auto ends_with = [&](std::string_view end) {
    return path.size() >= end.size() &&
           path.compare(path.size() - end.size(), end.size(), end) == 0;
  };
  if (path == "-" || ends_with(".svg")) return Format::svg;
  if (ends_with(".html") || ends_with(".htm")) return Format::html;
  throw Error(ErrorCode::invalid_argument,
              "draw what into '" + path + "'? Name a file that ends in .svg, or in .html to play.");
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

std::string draw(const Options& options) {
  const DrawnSchedule drawn = chosen_schedule(options);
  const render::Storyboard story = render::storyboard(drawn.schedule);
  if (format_of(options.output) == Format::html) {
    return render::schedule_page(story, drawn.caption);
  }
  const std::vector<std::uint32_t> rounds =
      options.rounds.empty() ? render::usual_rounds(story.rounds()) : parse_ranges(options.rounds);
  return render::draw_schedule(story, drawn.caption, rounds);
}

}  // namespace

void add_draw(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("draw", "a schedule round by round, as a picture or a page that plays");
  auto options = std::make_shared<Options>();
  command->add_option("algorithm", options->name, "such as allreduce/ring");
  command->add_option("--file", options->file, "a schedule in JSON; - is standard input");
  options->problem.add(*command);
  command->add_option("--rounds", options->rounds,
                      "which rounds to draw: 3, 1-5 (default: all, or some of many)");
  command
      ->add_option("-o,--output", options->output,
                   "where to: FILE.svg, or FILE.html to play; - is standard output, as SVG")
      ->required();
  command->callback([options, &exit_code] {
    write_text(options->output, draw(*options));
    exit_code = success;
  });
}

}  // namespace tutti::cli
