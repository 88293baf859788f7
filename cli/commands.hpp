#pragma once

#include <string>
#include <vector>

#include "cli/bench/comparison.hpp"
#include "cli/console/arguments.hpp"

/// The subcommands of `tutti`, one file each. Each adds itself to the command line.
namespace tutti::cli {

void add_list(Command tutti);
void add_explain(Command tutti);
void add_verify(Command tutti);
void add_cost(Command tutti);
void add_topo(Command tutti);
void add_sim(Command tutti);
void add_synth(Command tutti);
void add_draw(Command tutti);
void add_explore(Command tutti);
void add_choose(Command tutti);
void add_blame(Command tutti);
void add_man(Command tutti);
/// `words` are those of the command line, to start the same command as ranks.
void add_crossover(Command tutti, std::vector<std::string> words);
void add_buckets(Command tutti, std::vector<std::string> words);
void add_bench(Command tutti, std::vector<std::string> words, Compare compare);
void add_tune(Command tutti, std::vector<std::string> words);
/// `after_dashes` are the words after "--", which belong to another program or are to be
/// completed.
void add_run(Command tutti, std::vector<std::string> after_dashes);
void add_completion(Command tutti, std::vector<std::string> after_dashes);

}  // namespace tutti::cli
