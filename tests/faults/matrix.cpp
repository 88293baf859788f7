/// Thousands of ways in which a rank can come to grief, and whether tutti keeps its promise.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "faults/scenario.hpp"
#include "faults/tally.hpp"

namespace tutti::test {
namespace {

constexpr const char* usage =
    "usage: matrix [--seed S] [--cases N] [--first I] [--only WORDS] [--jobs J] [--patience F]\n"
    "  --only   only cases in whose description these words are: shard:, kill, tcp, "
    "allreduce/ring\n"
    "  --first  the number of the first case; with --cases 1, that one alone\n"
    "  --jobs   so many cases at once; times are honest with 1\n"
    "  --patience  times may be so many times as long as promised, where others share the cores\n";

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t cases = 100;
  std::uint64_t first = 0;
  std::string only{};
  std::uint64_t jobs = 1;
  std::uint64_t patience = 1;
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

void report(const FaultCase& fault_case, const CaseResult& result) {
  std::string text = "FAILED: " + words(fault_case) + "\n  repeat: matrix --seed " +
                     std::to_string(fault_case.seed) + " --first " +
                     std::to_string(fault_case.number) + " --cases 1\n";
  for (const std::string& wrong : result.wrong) text += "  " + wrong + "\n";
  (void)!write(STDOUT_FILENO, text.data(), text.size());
}

/// Every jobs-th case, told to `to`.
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
  Tally::Entry entry;
  while (read(ends[0], &entry, sizeof entry) == sizeof entry) {
    tally.add(entry);
    if (tally.cases() % 50 == 0) {
      std::printf("%llu of %zu cases, %llu failed\n",
                  static_cast<unsigned long long>(tally.cases()), cases.size(),
                  static_cast<unsigned long long>(tally.failed()));
      std::fflush(stdout);
    }
  }
  for (const pid_t worker : workers) waitpid(worker, nullptr, 0);
  std::printf("seed %llu\n%s", static_cast<unsigned long long>(options.seed), tally.text().c_str());
  return tally.failed() == 0 && tally.cases() == cases.size() ? 0 : 1;
}

}  // namespace
}  // namespace tutti::test

int main(int count, char** words) {
  return tutti::test::run(tutti::test::options_from(count, words));
}
