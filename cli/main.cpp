#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "cli/commands.hpp"
#include "cli/console/arguments.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/standard_output.hpp"
#include "cli/launch/signals.hpp"
#include "cli/launch/watch.hpp"

namespace {

using namespace tutti;

/// Removes the words after "--" if they are not for the command: they belong to the program that it
/// runs, or to the command line that it completes.
std::vector<std::string> take_after_dashes(std::vector<std::string>& words) {
  if (words.empty() || (words.front() != "run" && words.front() != "complete")) return {};
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> after(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return after;
}

void add_commands(cli::Command tutti, const std::vector<std::string>& words,
                  const std::vector<std::string>& after_dashes) {
  cli::add_list(tutti);
  cli::add_explain(tutti);
  cli::add_verify(tutti);
  cli::add_cost(tutti);
  cli::add_crossover(tutti, words);
  cli::add_sim(tutti);
  cli::add_synth(tutti);
  cli::add_topo(tutti);
  cli::add_draw(tutti);
  cli::add_explore(tutti);
  cli::add_buckets(tutti, words);
  cli::add_bench(tutti, words);
  cli::add_tune(tutti, words);
  cli::add_choose(tutti);
  cli::add_run(tutti, after_dashes);
  cli::add_blame(tutti);
  cli::add_completion(tutti, after_dashes);
  cli::add_man(tutti);
}

int fail(const std::string& message) {
  std::fprintf(stderr, "tutti: %s\n", message.c_str());
  return cli::usage_error;
}

/// The exit code, also if the command throws.
int run(cli::Arguments& arguments, const std::vector<std::string>& words) {
  try {
    return arguments.run(words);
  } catch (const Error& error) {
    return fail(error.what());
  } catch (const cli::Interrupted& interrupted) {
    std::fprintf(stderr, "tutti: %s\n", interrupted.what());
    return cli::Watch::signal_code + interrupted.signal();
  } catch (const std::bad_alloc&) {
    return fail("out of memory; ask for fewer ranks");
  } catch (const std::exception& error) {
    return fail(std::string("this is a bug in tutti, please report it: ") + error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  cli::take_write_errors();
  cli::Arguments arguments(
      "tutti",
      "Collective communication: algorithms as values, proved, counted, priced, explained.",
      "tutti " + std::string(version));
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::vector<std::string> after_dashes = take_after_dashes(words);
  add_commands(arguments.root(), words, after_dashes);
  const int code = run(arguments, words);
  // A violation is a result; an error and an interruption are none.
  const bool is_complete = code == cli::success || code == cli::violation_found;
  if (cli::finish_standard_output(is_complete) || code != cli::success) return code;
  return cli::usage_error;
}
