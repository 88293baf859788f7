#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/nearest.hpp>
#include <tutti/version.hpp>

#include "commands.hpp"
#include "exit_code.hpp"

namespace {

using namespace tutti;

/// CLI11 says of an unknown subcommand only that it was not expected.
std::string with_suggestion(const CLI::App& app, const std::string& message, int argc,
                            char** argv) {
  if (argc < 2 || argv[1][0] == '-') return message;
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name() == argv[1]) return message;
    names.push_back(each->get_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return "no command is called '" + std::string(argv[1]) + "'." + did_you_mean(argv[1], views) +
         " 'tutti --help' shows them all.";
}

/// Takes off what follows "--" if the command runs another program: CLI11 would read it as its own.
std::vector<std::string> take_after_dashes(int& argc, char** argv) {
  if (argc < 2 || argv[1] != std::string_view("run")) return {};
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  argc = static_cast<int>(dashes - argv);
  return {dashes == end ? end : dashes + 1, end};
}

int fail(const std::string& message) {
  std::fprintf(stderr, "tutti: %s\n", message.c_str());
  return cli::usage_error;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Collective communication: algorithms as values, proved, counted, priced, explained.");
  app.name("tutti");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("tutti ") + std::string(tutti::version));
  int exit_code = cli::success;
  cli::add_list(app, exit_code);
  cli::add_explain(app, exit_code);
  cli::add_verify(app, exit_code);
  cli::add_cost(app, exit_code);
  cli::add_crossover(app, exit_code, {argv + 1, argv + argc});
  cli::add_sim(app, exit_code);
  cli::add_topo(app, exit_code);
  cli::add_draw(app, exit_code);
  cli::add_bench(app, exit_code, {argv + 1, argv + argc});
  cli::add_tune(app, exit_code, {argv + 1, argv + argc});
  cli::add_choose(app, exit_code);
  cli::add_run(app, exit_code, take_after_dashes(argc, argv));
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return fail(with_suggestion(app, error.what(), argc, argv));
  } catch (const Error& error) {
    return fail(error.what());
  } catch (const std::bad_alloc&) {
    return fail("out of memory; ask for fewer ranks");
  } catch (const std::exception& error) {
    return fail(std::string("this is a defect of tutti, please report it: ") + error.what());
  }
}
