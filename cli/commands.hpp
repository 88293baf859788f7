#pragma once

#include <string>
#include <vector>

#include "cli/console/arguments.hpp"

/// The subcommands of `tutti`, one file each. Each adds itself to the command line.
namespace tutti::cli {

void add_list(Command tutti);
void add_explain(Command tutti);
void add_verify(Command tutti);
void add_cost(Command tutti);
void add_topo(Command tutti);
void add_sim(Command tutti);
void add_draw(Command tutti);
void add_choose(Command tutti);
void add_blame(Command tutti);
/// `words` are those of the command line, to start the same again as ranks.
void add_crossover(Command tutti, std::vector<std::string> words);
void add_bench(Command tutti, std::vector<std::string> words);
void add_tune(Command tutti, std::vector<std::string> words);
/// `after_dashes` is what follows "--" on the command line, which is for another program to read.
void add_run(Command tutti, std::vector<std::string> after_dashes);

}  // namespace tutti::cli
