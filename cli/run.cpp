#include <cstdlib>
#include <filesystem>
#include <memory>

#include <tutti/error.hpp>

#include "cli/commands.hpp"
#include "cli/console/own_program.hpp"
#include "cli/launch/launcher.hpp"

namespace tutti::cli {
namespace {

struct Options {
  Job job{};
  double timeout = 0;
  double linger = Job{}.linger.count();
  double grace = Job{}.grace.count();
  bool no_prefix = false;
  std::string bind = "share";
  std::vector<std::string> variables;
  std::string order;
  bool shares_malloc = false;
};

constexpr std::uint32_t most_ranks = 4096;
constexpr double longest = 1e8;

std::pair<std::string, std::string> parse_variable(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(
        ErrorCode::invalid_argument,
        "'" + text + "' sets no variable; write -x NAME=VALUE. Ranks inherit all other variables.");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The rest begins with the first unknown word, whether it is a program or not.
std::vector<std::string> parse_command(std::vector<std::string> words,
                                       const std::vector<std::string>& after_dashes) {
  if (!words.empty() && words.front().starts_with("-")) {
    throw Error(ErrorCode::invalid_argument,
                "run has no option '" + words.front() + "'; 'tutti run --help' shows them all");
  }
  // Dashes after the name of the program belong to the program.
  if (!words.empty() && !after_dashes.empty()) words.emplace_back("--");
  words.insert(words.end(), after_dashes.begin(), after_dashes.end());
  if (words.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "run which program? For example: tutti run -n 4 -- ./program arguments");
  }
  return words;
}

/// The value of LD_PRELOAD with which malloc gives shared memory. The library is beside the
/// command, where it was built, or in the folder of libraries beside that of the command.
std::string preloads_of_malloc() {
  const std::filesystem::path folder = std::filesystem::path(own_program()).parent_path();
  constexpr const char* name = "libtutti_malloc.so";
  for (const char* const place : {".", "shared", "../lib", "../lib64", "../lib/x86_64-linux-gnu",
                                  "../lib/aarch64-linux-gnu"}) {
    std::error_code trouble;
    const auto found = std::filesystem::canonical(folder / place / name, trouble);
    if (trouble) continue;
    const char* const others = std::getenv("LD_PRELOAD");
    return found.string() + (others == nullptr ? "" : std::string(":") + others);
  }
  throw Error(ErrorCode::unsupported,
              std::string("--shared-malloc needs ") + name + ", which is neither in " +
                  folder.string() + " nor in a folder of libraries beside it" +
                  ": build the target tutti_malloc, or install tutti built with " +
                  "-DBUILD_SHARED_LIBS=ON");
}

int run(Options& options) {
  Job& job = options.job;
  if (job.ranks == 0) {
    throw Error(ErrorCode::invalid_argument, "how many ranks? Add -n, such as -n 4.");
  }
  for (const std::string& each : options.variables) job.variables.push_back(parse_variable(each));
  if (options.shares_malloc) job.variables.emplace_back("LD_PRELOAD", preloads_of_malloc());
  if (!options.order.empty()) job.variables.emplace_back("TUTTI_ORDER", options.order);
  if (options.timeout > 0) job.timeout = Job::Seconds(options.timeout);
  job.linger = Job::Seconds(options.linger);
  job.grace = Job::Seconds(options.grace);
  job.prefix = !options.no_prefix;
  job.binding = options.bind == "core"    ? Binding::core
                : options.bind == "share" ? Binding::share
                                          : Binding::none;
  return Launcher(job).run();
}

}  // namespace

void add_run(Command tutti, std::vector<std::string> after_dashes) {
  const Command command = tutti.command("run", "start a program as several ranks on this host");
  auto options = std::make_shared<Options>();
  command.option("-n,-p,--ranks", options->job.ranks, "number of ranks")
      .text("N")
      .between(1U, most_ranks);
  command.option("-x", options->variables, "set a variable for all ranks")
      .text("NAME=VALUE")
      .one_word();
  command.option("--timeout", options->timeout, "end the job after this time")
      .text("SECONDS")
      .between(0.001, longest);
  command
      .option("-o,--output", options->job.output,
              "for copies of the output: rank-N.out, rank-N.err")
      .text("DIRECTORY");
  command.flag("--no-prefix", options->no_prefix, "do not put the rank before each line");
  command
      .option("--bind", options->bind,
              "where a rank may run: share, on an equal share of the cores if there are enough; "
              "core, on one core, round-robin; none, anywhere (default share)")
      .text("WHAT")
      .among({"none", "share", "core"});
  command
      .option("--order", options->order,
              "renumber the ranks: the first of the list becomes rank 0; file:PATH")
      .text("RANK,...");
  command.flag("--shared-malloc", options->shares_malloc,
               "malloc gives ranks shared memory, from 4 KiB on (TUTTI_MALLOC)");
  command.flag("--keep-going", options->job.keeps_going,
               "let the others go on after a rank has failed");
  command
      .option("--linger", options->linger,
              "time for other ranks to end after one has failed (default 2)")
      .text("SECONDS")
      .between(0.0, longest);
  command.option("--grace", options->grace, "time between SIGTERM and SIGKILL (default 5)")
      .text("SECONDS")
      .between(0.0, longest);
  command.footer(
      "tutti run -n 4 -- ./program arguments\n\n"
      "TUTTI_RANK, TUTTI_SIZE, TUTTI_LOCAL_RANK, TUTTI_LOCAL_SIZE, TUTTI_ROOT, TUTTI_SECRET and\n"
      "TUTTI_JOB tell each rank its number and the address of rank 0. Rank 0 reads standard "
      "input.\n"
      "The exit code is 0, that of the first rank that failed, 128 plus the number of the signal\n"
      "that killed it, or 124 after --timeout.\n"
      "Starts ranks on this host only. For several hosts use torchrun, mpirun or srun.");
  command.keep_rest();
  command.action([options, command, after_dashes = std::move(after_dashes)] {
    options->job.command = parse_command(command.rest(), after_dashes);
    return run(*options);
  });
}

}  // namespace tutti::cli
