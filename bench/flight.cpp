// Measures the cost of the flight recorder per small call, and of reading clocks:
//   tutti run -n 2 -- build/bench/flight
// Every call is recorded once. Here it is recorded a second time, and not, in turns of some
// milliseconds; the second record costs as much as the first. Needs a core for each rank.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include <tutti/communicator.hpp>

#include "flight/recorder.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr tutti::FlightCall some_call{.kind = tutti::FlightKind::allreduce,
                                      .dtype = tutti::DType::f32,
                                      .count = 2,
                                      .bytes = 8,
                                      .algorithm = "allreduce/mesh"};

double nanoseconds_each(int count, const std::function<void()>& run_all) {
  const Clock::time_point begin = Clock::now();
  run_all();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / count;
}

double quantile(std::vector<double>& times, double part) {
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
}

/// Runs two variants in turns and prints the extra time of the second.
void compare(const char* what, int calls, const std::function<void()>& plain,
             const std::function<void()>& more) {
  constexpr int turns = 200;
  std::vector<double> times;
  std::vector<double> differences;
  for (int turn = 0; turn < turns; ++turn) {
    const double first = nanoseconds_each(calls, plain);
    const double second = nanoseconds_each(calls, more);
    times.push_back(first);
    differences.push_back(second - first);
  }
  const double median = quantile(times, 0.5);
  std::printf("%-20s %8.1f %+8.1f %+8.1f %+8.1f %+7.1f %%\n", what, median,
              quantile(differences, 0.25), quantile(differences, 0.5), quantile(differences, 0.75),
              100 * quantile(differences, 0.5) / median);
}

void ask_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
}

void print_clocks() {
  constexpr int times = 1000000;
  const auto print = [](const char* what, const std::function<void()>& run_all) {
    std::printf("%-24s %6.1f\n", what, nanoseconds_each(times, run_all));
  };
  std::printf("\nnanoseconds to read a clock\n");
  print("ticks()", [] {
    // The sum prevents the compiler from removing the calls.
    std::uint64_t sum = 0;
    for (int i = 0; i < times; ++i) sum += tutti::ticks();
    asm volatile("" : : "r"(sum));
  });
  print("CLOCK_MONOTONIC_COARSE", [] {
    for (int i = 0; i < times; ++i) ask_clock(CLOCK_MONOTONIC_COARSE);
  });
  print("CLOCK_MONOTONIC", [] {
    for (int i = 0; i < times; ++i) ask_clock(CLOCK_MONOTONIC);
  });
}

}  // namespace

int main() {
  tutti::Communicator comm = tutti::Communicator::from_environment();
  tutti::FlightRecorder recorder({.self = comm.rank(), .ranks = comm.size()});
  // Only rank 0 prints.
  if (comm.rank() > 0 && std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
  std::vector<float> data(2, 1);
  constexpr int calls = 5000;
  std::uint64_t number = 0;
  const auto with_record = [&](const std::function<void()>& call, std::string_view site) {
    return [&recorder, &number, call, site] {
      for (int i = 0; i < calls; ++i) {
        recorder.begin(++number, some_call, site);
        call();
        recorder.end();
      }
    };
  };
  const auto over_and_over = [](const std::function<void()>& call) {
    return [call] {
      for (int i = 0; i < calls; ++i) call();
    };
  };
  const std::function<void()> allreduce = [&] { comm.all_reduce(data, tutti::Op::max); };
  const std::function<void()> broadcast = [&] { comm.broadcast(data, 0); };
  const std::function<void()> barrier = [&] { comm.barrier(); };
  std::printf("nanoseconds              plain   recorded once more (quartiles)\n");
  compare("allreduce of 8 B", calls, over_and_over(allreduce), with_record(allreduce, ""));
  compare("  at a named place", calls, over_and_over(allreduce), with_record(allreduce, "step 12"));
  compare("broadcast of 8 B", calls, over_and_over(broadcast), with_record(broadcast, ""));
  compare("barrier", calls, over_and_over(barrier), with_record(barrier, ""));
  if (comm.rank() == 0) print_clocks();
}
