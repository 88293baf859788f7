// Measures the cost of each level of reproducibility: allreduces of one size at each level in
// turns.
//   tutti run -n 4 -- build/bench/levels [ROUNDS]     ranks are processes
//   build/bench/levels [ROUNDS] RANKS                 ranks are threads
// A time is that of the last rank. Prints the lower quartile over rounds in µs, which is more
// robust than the median on a machine with other load, and its ratio to the plain sum. "hard"
// numbers have all magnitudes, so that every sum needs the long accumulator.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/memory.hpp>

namespace {

using Clock = std::chrono::steady_clock;

template <class T>
using Numbers = std::vector<T, tutti::Allocator<T>>;

/// Random numbers like gradients, or with exponents from the whole range.
template <class T>
Numbers<T> numbers(std::size_t count, std::uint32_t seed, bool hard) {
  Numbers<T> data(count);
  std::uint64_t random = seed * 2654435761U + 88172645463325252U;
  for (T& each : data) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const double unit = static_cast<double>(random >> 11) / 9007199254740992.0 - 0.5;
    each = static_cast<T>(hard ? std::ldexp(unit, static_cast<int>(random % 200) - 100) : unit);
  }
  return data;
}

/// Seconds per call of the last rank, over `times` calls.
double timed(tutti::Communicator& comm, std::size_t times, const std::function<void()>& call) {
  comm.barrier();
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < times; ++i) call();
  std::array<double, 1> seconds = {std::chrono::duration<double>(Clock::now() - begin).count()};
  comm.all_reduce(seconds, tutti::Op::max);
  return seconds[0] / static_cast<double>(times);
}

double lower_quartile(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 4];
}

template <class T>
void compare(tutti::Communicator& comm, const char* type, std::size_t bytes, int rounds) {
  const std::size_t count = bytes / sizeof(T);
  const Numbers<T> easy = numbers<T>(count, comm.rank() + 1, false);
  const Numbers<T> hard = numbers<T>(count, comm.rank() + 1, true);
  Numbers<T> output(count);
  const auto at = [&](const Numbers<T>& input, tutti::Reproducible level) {
    return [&, level] { comm.all_reduce(input, output, tutti::Op::sum, {.reproducible = level}); };
  };
  struct Way {
    std::string name;
    std::function<void()> call;
    std::vector<double> times{};
  };
  std::array<Way, 4> ways{Way{"run", at(easy, tutti::Reproducible::run)},
                          Way{"order", at(easy, tutti::Reproducible::order)},
                          Way{"exact", at(easy, tutti::Reproducible::exact)},
                          Way{"exact, hard", at(hard, tutti::Reproducible::exact)}};
  const std::size_t times = std::max<std::size_t>(1, (std::size_t{1} << 20) / bytes);
  for (Way& way : ways) way.call();
  // Vary the order, so that no level is always first or always after the slowest.
  for (int i = 0; i < rounds * 3; ++i) {
    Way& way = ways[static_cast<std::size_t>((i / 3 + i) % 3)];
    way.times.push_back(timed(comm, times, way.call));
  }
  for (int i = 0; i < std::max(1, rounds / 4); ++i) {
    ways[3].times.push_back(timed(comm, 1, ways[3].call));
  }
  if (comm.rank() != 0) return;
  const double plain = lower_quartile(ways[0].times);
  std::printf("%-4s %9zu", type, bytes);
  for (const Way& way : ways) {
    const double time = lower_quartile(way.times);
    std::printf("   %-11s %10.1f (%5.2f)", way.name.c_str(), time * 1e6, time / plain);
  }
  std::printf("\n");
}

void compare_all(tutti::Communicator& comm, int rounds) {
  if (comm.rank() == 0) std::printf("%s\n", comm.description().c_str());
  for (const std::size_t bytes :
       {std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{16} << 20}) {
    compare<float>(comm, "f32", bytes, rounds);
    compare<double>(comm, "f64", bytes, rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  if (argc > 2) {
    tutti::run_threads(static_cast<std::uint32_t>(std::atoi(argv[2])),
                       [&](tutti::Communicator& comm) { compare_all(comm, rounds); });
    return 0;
  }
  tutti::Communicator comm = tutti::Communicator::from_environment();
  compare_all(comm, rounds);
}
