#pragma once

#include <string>
#include <vector>

#include "cli/bench/request.hpp"

namespace tutti::cli {

/// What `tutti bench --regret` measures, as the command line asks for it. Of the request only the
/// collective, ranks, transport and sizes are used.
struct RegretRequest {
  BenchRequest bench{};
  std::string json{};  ///< File for all results; empty: none.
  double time = 0;     ///< Seconds for everything; 0: as usual.
  std::string part{};  ///< File for the results of one launch; empty: this is the whole run.
};

/// Measures how much slower tutti's choice is than the fastest algorithm. Each number of ranks and
/// each transport gets several launches of processes; the results are printed as one table.
/// `words` are those of the command line, to start the same command as ranks.
[[nodiscard]] int run_regret(const RegretRequest& request, std::vector<std::string> words);

}  // namespace tutti::cli
