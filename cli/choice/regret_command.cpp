#include "cli/choice/regret_command.hpp"

#include <algorithm>
#include <cstdio>

#include <tutti/error.hpp>

#include "cli/choice/regret_table.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text_file.hpp"
#include "cli/launch/again.hpp"
#include "cli/launch/launcher.hpp"
#include "measure/regret.hpp"
#include "rendezvous/environment.hpp"
#include "select/profile.hpp"

namespace tutti::cli {
namespace {

using measure::RegretRow;

/// How ranks that share cores alternate differs between launches but not within one.
constexpr int launches = 3;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

measure::RegretTask task_from(const BenchRequest& request) {
  measure::RegretTask task;
  if (request.collective) {
    task.collectives = {*request.collective};
  } else {
    task.collectives = {Collective::allreduce, Collective::allgather, Collective::reduce_scatter,
                        Collective::broadcast, Collective::reduce,    Collective::alltoall};
  }
  const BenchSizes& sizes = request.sizes;
  const std::uint64_t least = std::max<std::uint64_t>(sizes.least, 1);
  for (std::uint64_t bytes = least; bytes <= sizes.most; bytes *= sizes.factor) {
    task.sizes.push_back(bytes);
    if (bytes > sizes.most / sizes.factor) break;  // The next one would overflow.
  }
  if (task.sizes.empty()) refuse("there is no size from -b to -e; -b is the smallest size");
  if (task.sizes.back() < sizes.most) task.sizes.push_back(sizes.most);
  return task;
}

void conclude(const std::vector<RegretRow>& rows, const std::string& json) {
  std::FILE* const table = json == "-" ? stderr : stdout;
  std::fprintf(table, "by %s\n\n%s", find_profile().origin.c_str(), regret_table(rows).c_str());
  if (!json.empty()) write_text(json, write(rows));
}

std::vector<RegretRow> measure(Communicator& communicator, const BenchRequest& request) {
  Progress bar("comparing, " + communicator.description());
  return measure::measure_regret(communicator, task_from(request),
                                 [&](double share) { bar.set(share); });
}

int take_part(const RegretRequest& request) {
  Communicator communicator = Communicator::from_environment();
  const std::vector<RegretRow> rows = measure(communicator, request.bench);
  if (communicator.rank() != 0) return success;
  if (request.part.empty()) {
    conclude(rows, request.json);
  } else {
    write_text(request.part, write(rows));
  }
  return success;
}

/// Starts ranks that all use the same transport. Runs in a process of its own.
int start_ranks(const RegretRequest& request, std::vector<std::string> words) {
  words.insert(words.begin(), own_program());
  const Job job{.ranks = request.bench.ranks,
                .command = std::move(words),
                .variables = {{"TUTTI_TRANSPORT", name(request.bench.transport)}},
                .bind_cores = true,
                .speaker = "tutti bench",
                .direct = true};
  return Launcher(job).run();
}

/// The command line of one launch.
std::vector<std::string> words_for(const BenchRequest& request, std::uint32_t ranks,
                                   BenchTransport transport, const std::string& part) {
  std::vector<std::string> words{"bench"};
  if (request.collective) words.emplace_back(name(*request.collective));
  words.insert(words.end(),
               {"--regret", "-n", std::to_string(ranks), "--transport", name(transport), "-b",
                std::to_string(request.sizes.least), "-e", std::to_string(request.sizes.most), "-f",
                std::to_string(request.sizes.factor), "--part", part});
  return words;
}

}  // namespace

int run_regret(const RegretRequest& request, std::vector<std::string> words) {
  const BenchRequest& bench = request.bench;
  const Launch launched = read_environment(environment_variable);
  if (launched.how != Launch::How::alone && launched.size > 1) return take_part(request);
  if (bench.transport == BenchTransport::inproc) {
    refuse("--regret starts processes; use --transport shm or tcp");
  }
  if (!request.part.empty()) return start_ranks(request, std::move(words));
  std::vector<std::uint32_t> numbers{2, 4, 8};
  if (bench.ranks > 0) numbers = {bench.ranks};
  std::vector<BenchTransport> transports{BenchTransport::shm, BenchTransport::tcp};
  if (bench.transport != BenchTransport::automatic) transports = {bench.transport};
  const Interrupts interrupts;
  std::vector<RegretRow> rows;
  for (const std::uint32_t ranks : numbers) {
    for (const BenchTransport transport : transports) {
      std::vector<std::vector<RegretRow>> runs;
      for (int run = 0; run < launches; ++run) {
        const TemporaryFile part;
        const int code = run_again(words_for(bench, ranks, transport, part.path()), interrupts);
        if (code != success) return code;
        runs.push_back(measure::read_regret(part.text()));
      }
      const std::vector<RegretRow> more = combine(runs);
      rows.insert(rows.end(), more.begin(), more.end());
    }
  }
  conclude(rows, request.json);
  return success;
}

}  // namespace tutti::cli
