#include <algorithm>
#include <string>
#include <vector>

#include <tutti/version.hpp>

#include "cli/commands.hpp"
#include "cli/console/arguments.hpp"
#include "cli/console/standard_output.hpp"
#include "cli/launch/run_to_exit.hpp"

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
  cli::add_bench(tutti, words,
                 [words](const cli::Comparison&) -> int { cli::become_comparison(words); });
  cli::add_tune(tutti, words);
  cli::add_choose(tutti);
  cli::add_run(tutti, after_dashes);
  cli::add_blame(tutti);
  cli::add_completion(tutti, after_dashes);
  cli::add_man(tutti);
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
  return cli::run_to_exit(arguments, words);
}
