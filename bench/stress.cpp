// Makes very many collectives, small ones and of mixed sizes, checks each, and looks for stalls.
// stress [SMALL] [MIXED], under `tutti run -n P`. A stall is a call that takes longer than 100 ms
// although this rank's thread had a core for most of that time.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include <tutti/communicator.hpp>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double long_time = 0.1;

/// How long this thread has waited for a core while runnable, by the scheduler's statistics.
double waited_for_core() {
  std::ifstream file("/proc/thread-self/schedstat");
  double ran = 0;
  double waited = 0;
  file >> ran >> waited;
  return waited / 1e9;
}

struct Tally {
  std::size_t calls = 0;
  std::size_t wrong = 0;
  double longest = 0;
  double longest_unexplained = 0;
};

/// Runs and times calls. `run(i)` returns whether its result is right.
template <class F>
Tally stress(std::size_t calls, const F& run) {
  Tally tally{.calls = calls};
  double waited = waited_for_core();
  for (std::size_t i = 0; i < calls; ++i) {
    const Clock::time_point begin = Clock::now();
    if (!run(i)) ++tally.wrong;
    const double took = Seconds(Clock::now() - begin).count();
    tally.longest = std::max(tally.longest, took);
    if (took < long_time) continue;
    const double now = waited_for_core();
    tally.longest_unexplained = std::max(tally.longest_unexplained, took - (now - waited));
    waited = now;
  }
  return tally;
}

void report(tutti::Communicator& comm, const char* what, const Tally& tally, double seconds) {
  // If a rank has no core, the ranks that wait for it are late, too, but only the late rank's own
  // statistics explain the delay. So a call is a stall only if it is one on every rank.
  std::array<double, 3> most = {tally.longest, static_cast<double>(tally.wrong), seconds};
  comm.all_reduce(most, tutti::Op::max);
  std::array<double, 1> least = {tally.longest_unexplained};
  comm.all_reduce(least, tutti::Op::min);
  if (comm.rank() != 0) return;
  std::printf("%u ranks, %zu %s: %.1f s, longest call %.1f ms, longest stall %.1f ms, wrong %.0f\n",
              comm.size(), tally.calls, what, most[2], most[0] * 1e3, least[0] * 1e3, most[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t small = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
  const std::size_t mixed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10000;
  tutti::Communicator comm = tutti::Communicator::from_environment();

  std::array<std::uint32_t, 2> pair{};
  Clock::time_point begin = Clock::now();
  const Tally little = stress(small, [&](std::size_t i) {
    pair = {comm.rank(), static_cast<std::uint32_t>(i)};
    comm.all_reduce(pair);
    return pair[0] == comm.size() * (comm.size() - 1) / 2 &&
           pair[1] == static_cast<std::uint32_t>(i) * comm.size();
  });
  report(comm, "small allreduces", little, Seconds(Clock::now() - begin).count());

  std::vector<float> data(1 << 16);
  std::vector<float> blocks(data.size() * comm.size());
  begin = Clock::now();
  const Tally all = stress(mixed, [&](std::size_t i) {
    const std::size_t count = (i * 7919) % data.size() + 1;
    const std::span<float> part(data.data(), count);
    const auto root = static_cast<std::uint32_t>(i % comm.size());
    std::fill(part.begin(), part.end(), static_cast<float>(comm.rank() + 1));
    const auto p = static_cast<float>(comm.size());
    switch (i % 5) {
      case 0:
        comm.broadcast(part, root);
        return part.back() == static_cast<float>(root + 1);
      case 1:
        comm.all_gather(part, std::span(blocks).first(count * comm.size()));
        return blocks[count * comm.size() - 1] == p;
      case 2:
        comm.barrier();
        return true;
      case 3:
        comm.all_to_all(std::span(blocks).first(count * comm.size()),
                        std::span(blocks).first(count * comm.size()));
        return true;
      default:
        comm.all_reduce(part);
        return part.back() == p * (p + 1) / 2;
    }
  });
  report(comm, "mixed collectives", all, Seconds(Clock::now() - begin).count());
  return little.wrong + all.wrong == 0 ? 0 : 1;
}
