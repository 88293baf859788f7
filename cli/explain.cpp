#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/schedule/msccl.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/terminal.hpp"
#include "cli/explanation/collective_json.hpp"
#include "cli/explanation/collective_story.hpp"
#include "cli/explanation/numbers_json.hpp"
#include "cli/explanation/pipeline_story.hpp"
#include "cli/explanation/reason_json.hpp"
#include "render/boxes.hpp"
#include "render/numbers.hpp"
#include "render/story.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  std::string file;
  ProblemOptions problem;
  std::string values;
  render::Combine combine = render::Combine::sum;
  Colour colour = Colour::automatic;
  bool why = false;
  bool json = false;
  bool msccl = false;
};

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

/// Lines of text in a file or pipe.
constexpr std::size_t usual_columns = 100;

std::size_t text_columns() {
  const std::size_t columns = terminal_columns();
  return columns == 0 ? usual_columns : std::min(columns, usual_columns);
}

void explain_collective(Collective collective, const Options& options) {
  if (!options.values.empty() || options.why || options.msccl) {
    throw Error(ErrorCode::invalid_argument,
                "--values, --why and --msccl are for an algorithm, such as " +
                    std::string(algorithms(collective).front().name));
  }
  constexpr std::uint32_t usual_ranks = 4;
  constexpr std::uint32_t most_ranks = 16;
  const std::uint32_t ranks = options.problem.ranks == 0 ? usual_ranks : options.problem.ranks;
  if (ranks > most_ranks) {
    throw Error(ErrorCode::unsupported,
                "the picture of a collective has at most 16 ranks; ask for fewer");
  }
  const Contract contract = render::boxed_contract(collective, ranks, options.problem.root);
  print(options.json ? collective_json(contract)
                     : collective_story(contract, paint_for(options.colour), text_columns()));
}

void explain_pipeline(const Options& options) {
  std::vector<double> numbers;
  const std::string usual = "0,1,2,3,4,5,6";
  for (const auto& row : render::Numbers::parse(options.values.empty() ? usual : options.values)) {
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  print(options.json ? pipeline_json(numbers) : pipeline_story(numbers));
}

/// Without -p, as many ranks as --values has lists.
ProblemOptions problem_for(const Options& options) {
  ProblemOptions problem = options.problem;
  if (problem.ranks != 0 || !problem.shape.empty() || options.values.empty()) return problem;
  const std::size_t lists = render::Numbers::parse(options.values).size();
  if (lists > 1) problem.ranks = static_cast<std::uint32_t>(lists);
  return problem;
}

void explain_schedule(const Schedule& schedule, const Algorithm* algorithm,
                      const Options& options) {
  std::optional<render::Numbers> numbers;
  if (!options.values.empty()) {
    numbers.emplace(schedule.contract, render::Numbers::parse(options.values), options.combine);
  }
  if (options.msccl) return print(to_msccl(schedule));
  if (options.json) return print(numbers ? numbers_json(schedule, *numbers) : to_json(schedule));
  render::StorySubject subject;
  if (algorithm != nullptr) {
    subject.summary = algorithm->summary;
    subject.order = algorithm->order;
  }
  subject.numbers = numbers ? &*numbers : nullptr;
  subject.columns = terminal_columns();
  print(render::story(schedule, subject, paint_for(options.colour)));
}

void run(const Options& options) {
  if (!options.file.empty()) {
    explain_schedule(load_schedule(options.file), nullptr, options);
    return;
  }
  if (options.words.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "explain what? Name a collective or an algorithm, or add --schedule FILE.");
  }
  if (options.words == std::vector<std::string>{"pipeline"}) return explain_pipeline(options);
  const std::vector<std::string> names = joined_names(options.words);
  const auto collective = names.size() == 1 ? find_collective(names.front()) : std::nullopt;
  if (collective) return explain_collective(*collective, options);
  const Algorithm& algorithm = algorithm_named(names);
  if (options.why) {
    return print(options.json
                     ? reason_json(algorithm)
                     : reason_story(algorithm.name, paint_for(options.colour), text_columns()));
  }
  const ProblemOptions problem = problem_for(options);
  explain_schedule(built_schedule(algorithm, problem.problem(algorithm)), &algorithm, options);
}

}  // namespace

void add_explain(Command tutti) {
  const Command command = tutti.command(
      "explain", "explain a collective; or an algorithm round by round, and what each rank holds");
  auto options = std::make_shared<Options>();
  const Option name =
      command.option("name", options->words, "allreduce, allreduce/ring, or allreduce ring")
          .text("NAME");
  command
      .option("--schedule", options->file,
              "a schedule in JSON or MSCCL's XML, instead of an algorithm")
      .text("FILE")
      .excludes(name);
  options->problem.add(command);
  command.flag("--why", options->why, "the idea of the algorithm, when it wins, its bound");
  command
      .option("--values", options->values,
              "run on numbers: a list for each rank, 1,2,3,4;5,6,7,8, or one for all of them")
      .text("LISTS");
  const std::map<std::string, int> ways{{"sum", static_cast<int>(render::Combine::sum)},
                                        {"prod", static_cast<int>(render::Combine::prod)},
                                        {"min", static_cast<int>(render::Combine::min)},
                                        {"max", static_cast<int>(render::Combine::max)}};
  const auto take = [options](int value) {
    options->combine = static_cast<render::Combine>(value);
  };
  command.choice("--op", ways, take, "how --values are combined: sum, prod, min or max")
      .text("OP (sum)");
  add_colour(command, options->colour);
  command.json(options->json, "the schedule, or what is shown, as JSON (docs/schedule-json.md)");
  command.flag("--msccl", options->msccl, "the schedule as XML of MSCCL (docs/msccl.md)");
  command.footer(
      "tutti explain allreduce                 a collective: boxes, dual, compositions, bounds\n"
      "tutti explain allreduce/ring -p 4       an algorithm, with symbols\n"
      "tutti explain reduce_scatter ring --values \"1,2,3,4;5,6,7,8;9,10,11,12;13,14,15,16\"\n"
      "tutti explain rabenseifner --why\n"
      "tutti explain pipeline                  f(x) = x² + 5 in two stages, counted");
  command.action([options] {
    run(*options);
    return success;
  });
}

}  // namespace tutti::cli
