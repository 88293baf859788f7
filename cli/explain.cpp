#include <cstdio>
#include <memory>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "render/story.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::string name;
  std::string file;
  ProblemOptions problem;
  Colour colour = Colour::automatic;
  bool json = false;
};

}  // namespace

void add_explain(Command tutti) {
  const Command command = tutti.command(
      "explain", "show the messages of an algorithm round by round, and what each rank holds");
  auto options = std::make_shared<Options>();
  const Option name = command.option("algorithm", options->name, "such as allreduce/ring");
  command.option("--file", options->file, "a schedule in JSON, instead of an algorithm")
      .text("FILE")
      .excludes(name);
  options->problem.add(command);
  add_colour(command, options->colour);
  command.flag("--json", options->json, "the schedule as JSON (docs/schedule-json.md)");
  command.action([options] {
    if (options->name.empty() && options->file.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  "explain what? Name an algorithm, or add --file FILE.");
    }
    const Algorithm* const algorithm =
        options->file.empty() ? &algorithm_named(options->name) : nullptr;
    const Schedule schedule =
        algorithm == nullptr ? load_schedule(options->file)
                             : built_schedule(*algorithm, options->problem.problem(*algorithm));
    if (options->json) {
      std::fputs(to_json(schedule).c_str(), stdout);
    } else {
      render::StorySubject subject;
      if (algorithm != nullptr)
        subject = {std::string(algorithm->summary), std::string(algorithm->order)};
      std::fputs(render::story(schedule, subject, paint_for(options->colour)).c_str(), stdout);
    }
    return success;
  });
}

}  // namespace tutti::cli
