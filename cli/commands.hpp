#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

/// The subcommands of `tutti`, one file each. Each adds itself to the command line and sets
/// `exit_code` when it has run.
namespace tutti::cli {

void add_list(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_cost(CLI::App& app, int& exit_code);
void add_topo(CLI::App& app, int& exit_code);
void add_sim(CLI::App& app, int& exit_code);
void add_draw(CLI::App& app, int& exit_code);
void add_choose(CLI::App& app, int& exit_code);
/// `words` are those of the command line, to start the same again as ranks.
void add_crossover(CLI::App& app, int& exit_code, std::vector<std::string> words);
void add_bench(CLI::App& app, int& exit_code, std::vector<std::string> words);
void add_tune(CLI::App& app, int& exit_code, std::vector<std::string> words);
/// `after_dashes` is what follows "--" on the command line, which is for another program to read.
void add_run(CLI::App& app, int& exit_code, std::vector<std::string> after_dashes);

}  // namespace tutti::cli
