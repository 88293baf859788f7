#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/verify.hpp>

#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text_file.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "core/workers.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  bool all = false;
  std::string ranks;
  std::string root = "all";
  std::string shape;
  std::vector<std::string> files;
  bool json = false;
  Colour colour = Colour::automatic;
};

/// One schedule to verify.
struct Task {
  const Algorithm* algorithm;
  Problem problem;
};

/// The result of one algorithm or one file.
struct Row {
  std::string name;
  std::uint64_t schedules = 0;
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  std::uint64_t violations = 0;
  bool folds_in_rank_order = true;  ///< True if all of its schedules do.
  std::vector<std::string> examples{};

  void add(const Verification& verdict, const std::string& which) {
    ++schedules;
    steps += verdict.steps;
    messages += verdict.messages;
    violations += verdict.violation_count;
    folds_in_rank_order = folds_in_rank_order && verdict.folds_in_rank_order;
    constexpr std::size_t most = 5;
    for (const Violation& each : verdict.violations) {
      if (examples.size() < most) examples.push_back(which + each.message);
    }
  }
};

/// Up to this many ranks every root and shape is tried; above it, a few.
constexpr std::uint32_t small = 64;

std::vector<Rank> roots(const Algorithm& algorithm, std::uint32_t ranks,
                        const std::string& wanted) {
  if (!has_root(algorithm.collective)) return {Rank{0}};
  if (wanted != "all") {
    const std::optional<std::uint32_t> root = read_number(wanted);
    if (!root) {
      throw Error(ErrorCode::invalid_argument,
                  "'" + wanted + "' is not a root; write a rank, or all");
    }
    return {*root};
  }
  std::vector<Rank> found;
  if (ranks <= small) {
    for (std::uint32_t r = 0; r < ranks; ++r) found.emplace_back(r);
  } else {
    found = {Rank{0}, Rank{1}, ranks / 2, ranks - 1};
  }
  return found;
}

std::vector<Shape> shapes(const Algorithm& algorithm, std::uint32_t ranks,
                          const std::string& wanted) {
  if (!algorithm.needs_shape()) return {Shape{}};
  if (!wanted.empty()) return {parse_shape(wanted)};
  if (ranks > small) return {squarest(ranks)};
  std::vector<Shape> found;
  for (std::uint32_t x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    found.push_back({{x, ranks / x}});
    for (std::uint32_t y = 1; algorithm.dimensions.most > 2 && y <= ranks / x; ++y) {
      if (ranks / x % y == 0) found.push_back({{x, y, ranks / x / y}});
    }
  }
  return found;
}

std::vector<std::uint32_t> rank_counts(const Options& options) {
  if (!options.ranks.empty()) return parse_ranges(options.ranks);
  if (!options.shape.empty()) {
    return {static_cast<std::uint32_t>(parse_shape(options.shape).size())};
  }
  return parse_ranges("1-33");
}

std::vector<const Algorithm*> chosen(const Options& options) {
  std::vector<const Algorithm*> found;
  if (options.all) {
    for (const Algorithm& each : algorithms()) found.push_back(&each);
  }
  for (const std::string& name : joined_names(options.names)) {
    for (const Algorithm* each : algorithms_named(name)) found.push_back(each);
  }
  return found;
}

std::vector<Row> verify_table(const Options& options) {
  std::vector<Row> rows;
  std::vector<Task> tasks;
  std::vector<std::size_t> row_of;
  for (const Algorithm* algorithm : chosen(options)) {
    for (const std::uint32_t ranks : rank_counts(options)) {
      for (const Shape& shape : shapes(*algorithm, ranks, options.shape)) {
        for (const Rank root : roots(*algorithm, ranks, options.root)) {
          const Problem problem{.ranks = ranks, .root = root, .shape = shape};
          // Some algorithms support only some numbers of ranks.
          if (algorithm->supports != nullptr &&
              !algorithm->supports(algorithm->completed(problem))) {
            continue;
          }
          tasks.push_back({algorithm, problem});
          row_of.push_back(rows.size());
        }
      }
    }
    rows.push_back({.name = std::string(algorithm->name)});
  }
  std::mutex mutex;
  Progress progress("verifying", tasks.size());
  in_parallel(tasks.size(), [&](std::size_t i) {
    const auto& [algorithm, problem] = tasks[i];
    const Verification verdict = verify(built_schedule(*algorithm, problem));
    const std::string which =
        "p = " + std::to_string(problem.ranks) +
        (problem.shape.empty() ? "" : ", " + to_string(problem.shape)) +
        (has_root(algorithm->collective) ? ", root " + std::to_string(problem.root) : "") + ": ";
    const std::lock_guard lock(mutex);
    rows[row_of[i]].add(verdict, which);
    progress.advance();
  });
  return rows;
}

Row verify_file(const std::string& path) {
  Row row{.name = path};
  try {
    row.add(verify(schedule_from_text(read_text(path))), "");
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
  return row;
}

void print_json(const std::vector<Row>& rows, double seconds) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back({{"name", row.name},
                    {"schedules", row.schedules},
                    {"steps", row.steps},
                    {"messages", row.messages},
                    {"violations", row.violations},
                    {"folds_in_rank_order", row.folds_in_rank_order},
                    {"examples", row.examples}});
  }
  std::puts(json_text({{"seconds", seconds}, {"verified", list}}, 2).c_str());
}

void print_table(const std::vector<Row>& rows, double seconds, const render::Paint& paint) {
  using Align = TextTable::Align;
  TextTable table({{"algorithm", Align::left},
                   {"schedules", Align::right},
                   {"steps", Align::right},
                   {"messages", Align::right},
                   {"violations", Align::right}});
  Row total;
  for (const Row& row : rows) {
    table.add({row.name, with_commas(row.schedules), with_commas(row.steps),
               with_commas(row.messages), with_commas(row.violations)});
    total.schedules += row.schedules;
    total.steps += row.steps;
    total.messages += row.messages;
    total.violations += row.violations;
  }
  std::fputs(table.text().c_str(), stdout);
  for (const Row& row : rows) {
    for (const std::string& each : row.examples) {
      std::printf("%s %s: %s\n", paint.red("violation").c_str(), row.name.c_str(), each.c_str());
    }
  }
  std::printf("\n%s schedule%s, %s steps, %s messages, in place and out of place: ",
              with_commas(total.schedules).c_str(), total.schedules == 1 ? "" : "s",
              with_commas(total.steps).c_str(), with_commas(total.messages).c_str());
  const std::string verdict = total.violations == 0
                                  ? paint.green("all proved")
                                  : paint.red(with_commas(total.violations) + " violations");
  std::printf("%s (%.1f s)\n", verdict.c_str(), seconds);
}

int run(const Options& options) {
  if (options.names.empty() && !options.all && options.files.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "verify what? Name algorithms or collectives, or add --all or --schedule FILE.");
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Row> rows = verify_table(options);
  for (const std::string& path : options.files) rows.push_back(verify_file(path));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  if (options.json) {
    print_json(rows, spent.count());
  } else {
    print_table(rows, spent.count(), paint_for(options.colour));
  }
  const bool right =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.violations == 0; });
  return right ? success : violation_found;
}

}  // namespace

void add_verify(Command tutti) {
  const Command command =
      tutti.command("verify", "prove schedules correct; the exit code is 1 on a violation");
  auto options = std::make_shared<Options>();
  command.option("names", options->names, "algorithms or whole collectives").text("NAME...");
  command.flag("--all", options->all, "every algorithm");
  command.option("-p,-n,--ranks", options->ranks, "numbers of ranks: 8, 1-33, 2,4,8")
      .text("RANGES (1-33)");
  command.option("--root", options->root, "a rank, or all: every root up to 64 ranks")
      .shows_default();
  command.option("--shape", options->shape, "such as 8x4 (default: all that fit up to 64 ranks)");
  command.option("--schedule", options->files,
                 "a schedule in JSON or MSCCL's XML; - is standard input");
  command.json(options->json, "as JSON");
  add_colour(command, options->colour);
  command.action([options] { return run(*options); });
}

}  // namespace tutti::cli
