/// Runs thousands of random faults and checks the promises of docs/failure.md.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "faults/scenario.hpp"
#include "faults/tally.hpp"

namespace tutti::test {
namespace {

constexpr const char* usage =
    "usage: matrix [--cases N] [--seed S] [--first I] [--only WORDS] [--jobs J] [--patience F]\n"
    "Generates cases from the seed, runs them, and prints a table. For a failed case it prints "
    "the\n"
    "command that repeats it alone.\n"
    "  --cases     the number of cases; default 100\n"
    "  --seed      default 1\n"
    "  --first     the number of the first case\n"
    "  --only      only cases whose description contains WORDS: messages:, kill, tcp\n"
    "  --jobs      cases that run at once; default two per core, since most of them wait\n"
    "  --patience  the factor by which promised times may be exceeded; default 1 with one job, "
    "else 4\n";

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t cases = 100;
  std::uint64_t first = 0;
  std::string only{};
  std::uint64_t jobs = 2 * std::max(1U, std::thread::hardware_concurrency());
  std::uint64_t patience = 0;  ///< 0: by the number of jobs.
};

std::uint64_t number_from(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    std::fputs(usage, stderr);
    std::exit(2);
  }
  return number;
}

Options options_from(int count, char** words) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = words[i];
    if (i + 1 == count) (void)number_from("");
    const std::string_view value = words[i + 1];
    if (name == "--seed") {
      options.seed = number_from(value);
    } else if (name == "--cases") {
      options.cases = number_from(value);
    } else if (name == "--first") {
      options.first = number_from(value);
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--jobs") {
      options.jobs = number_from(value);
    } else if (name == "--patience") {
      options.patience = number_from(value);
    } else {
      (void)number_from("");
    }
  }
  options.jobs =
      std::clamp<std::uint64_t>(options.jobs, 1, std::max<std::uint64_t>(options.cases, 1));
  if (options.patience == 0) options.patience = options.jobs == 1 ? 1 : 4;
  return options;
}

std::vector<FaultCase> chosen(const Options& options) {
  constexpr std::uint64_t most_looked_at = 10'000'000;
  std::vector<FaultCase> cases;
  for (std::uint64_t i = 0; cases.size() < options.cases && i < most_looked_at; ++i) {
    FaultCase drawn = draw(options.seed, options.first + i);
    if (words(drawn).find(options.only) != std::string::npos) cases.push_back(std::move(drawn));
  }
  return cases;
}

std::string repeat_command(std::uint64_t seed, std::uint64_t number) {
  return "matrix --cases 1 --seed " + std::to_string(seed) + " --first " + std::to_string(number);
}

void report(const FaultCase& fault_case, const CaseResult& result) {
  std::string text = "FAILED: " + words(fault_case) +
                     "\n  repeat: " + repeat_command(fault_case.seed, fault_case.number) + "\n";
  for (const std::string& wrong : result.wrong) text += "  " + wrong + "\n";
  (void)!write(STDOUT_FILENO, text.data(), text.size());
}

/// Runs every jobs-th case and writes the results to `to`.
void work(const std::vector<FaultCase>& cases, std::uint64_t job, const Options& options, int to) {
  for (std::size_t i = job; i < cases.size(); i += options.jobs) {
    const CaseResult result = run_case(cases[i], static_cast<double>(options.patience));
    if (!result.wrong.empty()) report(cases[i], result);
    Tally::Entry entry{.number = cases[i].number,
                       .failed = !result.wrong.empty(),
                       .hung = result.hung,
                       .detection_s = result.detection_s,
                       .recovery_s = result.recovery_s};
    note(entry.label, scenario_of(cases[i]).label(cases[i]));
    if (write(to, &entry, sizeof entry) != sizeof entry) return;
  }
}

/// Prints the progress from time to time.
class Progress {
 public:
  explicit Progress(std::size_t all) : all_(all) {}

  void note(const Tally& tally) {
    constexpr std::chrono::seconds between{10};
    const auto now = std::chrono::steady_clock::now();
    if (now < told_ + between) return;
    told_ = now;
    const double spent = std::chrono::duration<double>(now - begun_).count();
    const auto done = static_cast<double>(tally.cases());
    std::printf("%llu of %zu cases, %llu failed, %.0f s, about %.0f s left\n",
                static_cast<unsigned long long>(tally.cases()), all_,
                static_cast<unsigned long long>(tally.failed()), spent,
                spent / done * (static_cast<double>(all_) - done));
    std::fflush(stdout);
  }

 private:
  std::size_t all_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point told_ = begun_;
};

int run(const Options& options) {
  const std::vector<FaultCase> cases = chosen(options);
  int ends[2];
  if (pipe(ends) != 0) return 2;
  std::vector<pid_t> workers;
  for (std::uint64_t job = 0; job < options.jobs; ++job) {
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      work(cases, job, options, ends[1]);
      _exit(0);
    }
    workers.push_back(pid);
  }
  close(ends[1]);
  Tally tally;
  Progress progress(cases.size());
  std::vector<std::uint64_t> failed;
  Tally::Entry entry;
  while (read(ends[0], &entry, sizeof entry) == sizeof entry) {
    tally.add(entry);
    if (entry.failed) failed.push_back(entry.number);
    progress.note(tally);
  }
  for (const pid_t worker : workers) waitpid(worker, nullptr, 0);
  std::printf("seed %llu, %llu at once, patience %llu\n%s",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.jobs),
              static_cast<unsigned long long>(options.patience), tally.text().c_str());
  std::printf("%llu of %zu cases, %llu failed\n", static_cast<unsigned long long>(tally.cases()),
              cases.size(), static_cast<unsigned long long>(tally.failed()));
  for (const std::uint64_t number : failed) {
    std::printf("  repeat: %s\n", repeat_command(options.seed, number).c_str());
  }
  return failed.empty() && tally.cases() == cases.size() ? 0 : 1;
}

}  // namespace
}  // namespace tutti::test

int main(int count, char** words) {
  return tutti::test::run(tutti::test::options_from(count, words));
}
