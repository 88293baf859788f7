#include "cli/choice/regret_command.hpp"

#include <algorithm>
#include <cstdio>

#include <tutti/error.hpp>

#include "cli/choice/regret.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/text_file.hpp"
#include "cli/launch/again.hpp"
#include "cli/launch/launcher.hpp"
#include "core/quantity.hpp"
#include "rendezvous/environment.hpp"
#include "select/profile.hpp"

namespace tutti::cli {
namespace {

/// How ranks that share cores take turns stays as it is for as long as they live.
constexpr int launches = 3;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

RegretWishes wishes_from(const BenchWishes& wishes) {
  RegretWishes result;
  if (wishes.collective.empty()) {
    result.collectives = {Collective::allreduce, Collective::allgather, Collective::reduce_scatter,
                          Collective::broadcast, Collective::reduce,    Collective::alltoall};
  } else {
    result.collectives = {parse_collective(wishes.collective)};
  }
  const std::uint64_t most = parse_bytes(wishes.most);
  const std::uint64_t least = std::max<std::uint64_t>(parse_bytes(wishes.least), 1);
  for (std::uint64_t bytes = least; bytes <= most; bytes *= wishes.factor) {
    result.sizes.push_back(bytes);
    if (bytes > most / wishes.factor) break;  // The next would not fit into a number.
  }
  if (result.sizes.empty()) refuse("there is no size from -b to -e");
  if (result.sizes.back() < most) result.sizes.push_back(most);
  return result;
}

void conclude(const std::vector<RegretRow>& rows, const std::string& json) {
  std::FILE* const words = json == "-" ? stderr : stdout;
  std::fprintf(words, "by %s\n\n%s", find_profile().origin.c_str(), describe(rows).c_str());
  if (!json.empty()) write_text(json, write(rows));
}

int take_part(const RegretOptions& options) {
  Communicator communicator = Communicator::from_environment();
  const std::vector<RegretRow> rows = measure_regret(communicator, wishes_from(options.wishes));
  if (communicator.rank() != 0) return success;
  if (options.part.empty()) {
    conclude(rows, options.json);
  } else {
    write_text(options.part, write(rows));
  }
  return success;
}

/// As a process of its own, which starts ranks that reach each other in one way.
int start_ranks(const RegretOptions& options, std::vector<std::string> words) {
  words.insert(words.begin(), own_program());
  const Job job{.ranks = options.ranks,
                .command = std::move(words),
                .variables = {{"TUTTI_TRANSPORT", options.transport}},
                .bind_cores = true,
                .speaker = "tutti bench",
                .direct = true};
  return Launcher(job).run();
}

std::vector<std::string> words_for(const RegretOptions& options, std::uint32_t ranks,
                                   const std::string& transport, const std::string& part) {
  std::vector<std::string> words{"bench"};
  if (!options.wishes.collective.empty()) words.push_back(options.wishes.collective);
  for (const std::string& each :
       {std::string("--regret"), std::string("-n"), std::to_string(ranks),
        std::string("--transport"), transport, std::string("-b"), options.wishes.least,
        std::string("-e"), options.wishes.most, std::string("-f"),
        std::to_string(options.wishes.factor), std::string("--part"), part}) {
    words.push_back(each);
  }
  return words;
}

}  // namespace

int run_regret(const RegretOptions& options, std::vector<std::string> words) {
  const Launch launched = read_environment(environment_variable);
  if (launched.how != Launch::How::alone && launched.size > 1) return take_part(options);
  if (options.transport == "inproc") refuse("--regret is for shm and tcp");
  if (!options.part.empty()) return start_ranks(options, std::move(words));
  std::vector<std::uint32_t> numbers{2, 4, 8};
  if (options.ranks > 0) numbers = {options.ranks};
  std::vector<std::string> transports{"shm", "tcp"};
  if (options.transport != "auto") transports = {options.transport};
  const Interrupts interrupts;
  std::vector<RegretRow> rows;
  for (const std::uint32_t ranks : numbers) {
    for (const std::string& transport : transports) {
      std::vector<std::vector<RegretRow>> runs;
      for (int run = 0; run < launches; ++run) {
        const TemporaryFile part;
        const int code = run_again(words_for(options, ranks, transport, part.path()), interrupts);
        if (code != success) return code;
        runs.push_back(read_regret(part.text()));
      }
      const std::vector<RegretRow> more = combine(runs);
      rows.insert(rows.end(), more.begin(), more.end());
    }
  }
  conclude(rows, options.json);
  return success;
}

}  // namespace tutti::cli
