#include "cli/choice/regret_command.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include <tutti/error.hpp>

#include "cli/choice/regret_table.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text_file.hpp"
#include "cli/launch/again.hpp"
#include "cli/launch/launcher.hpp"
#include "cli/measure/regret.hpp"
#include "core/reject.hpp"
#include "rendezvous/environment.hpp"
#include "select/profile.hpp"

namespace tutti::cli {
namespace {

using measure::RegretRow;

/// How ranks that share cores alternate differs between launches but not within one.
constexpr int most_launches = 3;
/// In less time, so much of it would be spent on starting ranks that fewer launches say more.
constexpr double least_launch = 4;
/// For each number of ranks, in seconds.
constexpr double usual_time = 50;

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
  if (task.sizes.empty()) reject("there is no size from -b to -e; -b is the smallest size");
  if (task.sizes.back() < sizes.most) task.sizes.push_back(sizes.most);
  return task;
}

/// Runs that had different amounts of time have different rows.
void sort(std::vector<RegretRow>& rows, const measure::RegretTask& task) {
  std::ranges::stable_sort(rows, {}, [&](const RegretRow& row) {
    return std::pair(std::ranges::find(task.collectives, row.collective) - task.collectives.begin(),
                     row.bytes);
  });
}

/// `cases` is the number of rows that were asked for.
void conclude(const std::vector<RegretRow>& rows, std::size_t cases, const std::string& json) {
  std::FILE* const table = json == "-" ? stderr : stdout;
  std::fprintf(table, "by %s\n\n%s", find_profile().origin.c_str(), regret_table(rows).c_str());
  if (rows.size() < cases) {
    std::fprintf(table, "\n%zu of %zu cases were left out for lack of time; --time gives more\n",
                 cases - rows.size(), cases);
  }
  if (!json.empty()) write_text(json, write(rows));
}

int take_part(const RegretRequest& request) {
  const auto begun = std::chrono::steady_clock::now();
  Communicator communicator = Communicator::from_environment();
  Progress bar("comparing, " + communicator.description());
  measure::RegretTask task = task_from(request.bench);
  const std::chrono::duration<double> setup = std::chrono::steady_clock::now() - begun;
  if (request.time > 0) task.time = request.time - setup.count();
  const std::vector<RegretRow> rows =
      measure::measure_regret(communicator, task, [&](double share) { bar.set(share); });
  if (communicator.rank() != 0) return success;
  if (request.part.empty()) {
    conclude(rows, task.collectives.size() * task.sizes.size(), request.json);
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
                .binding = Binding::core,
                .speaker = "tutti bench",
                .direct = true};
  return Launcher(job).run();
}

/// The command line of one launch.
std::vector<std::string> words_for(const BenchRequest& request, std::uint32_t ranks,
                                   BenchTransport transport, double time, const std::string& part) {
  std::vector<std::string> words{"bench"};
  if (request.collective) words.emplace_back(name(*request.collective));
  words.insert(
      words.end(),
      {"--regret", "-n", std::to_string(ranks), "--transport", name(transport), "-b",
       std::to_string(request.sizes.least), "-e", std::to_string(request.sizes.most), "-f",
       std::to_string(request.sizes.factor), "--time", std::to_string(time), "--part", part});
  return words;
}

}  // namespace

int run_regret(const RegretRequest& request, std::vector<std::string> words) {
  const BenchRequest& bench = request.bench;
  const Launch launched = read_environment(environment_variable);
  if (launched.how != Launch::How::alone && launched.size > 1) return take_part(request);
  if (bench.transport == BenchTransport::inproc) {
    reject("--regret starts processes; use --transport shm or tcp");
  }
  if (!request.part.empty()) return start_ranks(request, std::move(words));
  std::vector<std::uint32_t> numbers{2, 4, 8};
  if (bench.ranks > 0) numbers = {bench.ranks};
  std::vector<BenchTransport> transports{BenchTransport::shm, BenchTransport::tcp};
  if (bench.transport != BenchTransport::automatic) transports = {bench.transport};
  const Interrupts interrupts;
  const measure::RegretTask task = task_from(bench);
  const double parts = static_cast<double>(numbers.size() * transports.size());
  const double time =
      request.time > 0 ? request.time / parts : usual_time / static_cast<double>(transports.size());
  const int launches = std::clamp(static_cast<int>(time / least_launch), 1, most_launches);
  std::vector<RegretRow> rows;
  for (const std::uint32_t ranks : numbers) {
    for (const BenchTransport transport : transports) {
      std::vector<std::vector<RegretRow>> runs;
      for (int run = 0; run < launches; ++run) {
        const TemporaryFile part;
        const int code =
            run_again(words_for(bench, ranks, transport, time / launches, part.path()), interrupts);
        if (code != success) return code;
        runs.push_back(measure::read_regret(part.text()));
      }
      std::vector<RegretRow> more = combine(runs);
      sort(more, task);
      rows.insert(rows.end(), more.begin(), more.end());
    }
  }
  const std::size_t cases = task.collectives.size() * task.sizes.size();
  conclude(rows, cases * numbers.size() * transports.size(), request.json);
  return success;
}

}  // namespace tutti::cli
