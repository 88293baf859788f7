// How fast the executor runs an allreduce between processes that share memory, without a
// communicator around it: memory_exec RANKS ALGORITHM staged|direct [SLICE_BYTES]. Median and 90th
// percentile of rank 0's time from call to call, and a check of every element.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <tutti/algorithm.hpp>

#include "exec/executor.hpp"
#include "transport/inproc/thread_view.hpp"
#include "transport/memory/memory_transport.hpp"

namespace {

using namespace tutti;

constexpr std::size_t most_bytes = std::size_t{64} << 20;

std::byte* shared_memory(std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("memory_exec: mmap");
    std::exit(1);
  }
  return static_cast<std::byte*>(memory);
}

struct Setup {
  std::uint32_t ranks;
  std::string algorithm;
  bool direct;
  std::uint32_t slice;
  std::byte* commons;
  std::byte* heap;
};

constexpr std::uint32_t slots = 16;

int iterations(std::size_t bytes, std::uint32_t ranks) {
  const int alone = bytes <= 4096 ? 20000 : bytes <= 65536 ? 5000 : bytes <= 1 << 20 ? 500 : 20;
  return ranks > 2 ? alone / 4 : alone;
}

float brought(std::uint32_t rank, std::size_t i) {
  return static_cast<float>(rank + 1) + static_cast<float>(i % 7);
}

void measure(const Setup& setup, Rank self, Executor& executor, float* in, float* out,
             std::size_t bytes) {
  const Algorithm& chosen = algorithm(setup.algorithm);
  const Problem problem{.ranks = setup.ranks};
  const Contract contract = chosen.contract(problem);
  const std::size_t count = bytes / sizeof(float);
  const Program program = chosen.program(problem, self);
  const Layout layout = even_layout(contract, count);
  const Plan plan = compile({.program = program,
                             .contract = contract,
                             .self = self,
                             .aliasing = Aliasing::out_of_place,
                             .layout = layout,
                             .element_bytes = sizeof(float)});
  Counters counters{.peers = std::vector<PeerCounters>(setup.ranks)};
  std::vector<std::byte> scratch(plan.scratch_bytes + 1);
  std::vector<std::byte> spare(plan.spare_bytes + 1);
  const Buffers buffers{.input = reinterpret_cast<const std::byte*>(in),
                        .output = reinterpret_cast<std::byte*>(out),
                        .scratch = scratch.data(),
                        .spare = spare.data()};
  const Folding folding{.fold = fold(DType::f32, Op::sum), .element_bytes = sizeof(float)};
  const auto run = [&] {
    executor.run(plan, buffers, folding, std::chrono::seconds(60), counters);
  };
  const int rounds = iterations(bytes, setup.ranks);
  for (int i = 0; i < rounds / 10 + 2; ++i) run();
  std::vector<double> micros;
  for (int i = 0; i < rounds; ++i) {
    const Clock::time_point begin = Clock::now();
    run();
    micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(micros.begin(), micros.end());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (std::uint32_t r = 0; r < setup.ranks; ++r) sum += brought(r, i);
    if (out[i] != sum) ++wrong;
  }
  if (self != Rank{0}) return;
  std::printf("%10zu %12.2f %12.2f %8zu\n", bytes, micros[micros.size() / 2],
              micros[micros.size() * 9 / 10], wrong);
  std::fflush(stdout);
}

void be(Rank self, const Setup& setup) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const bool roomy = setup.ranks <= cores;
  if (roomy) {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(self.index(), &own);
    sched_setaffinity(0, sizeof own, &own);
  }
  // All processes have mapped the same memory at the same address before they parted.
  ThreadView view;
  const Commons commons(setup.commons, setup.ranks, {.slots = slots, .slot_bytes = setup.slice});
  const Patience patience =
      roomy ? Patience{.spins = 20000, .yields = 0} : Patience{.spins = 20, .yields = 200};
  MemoryTransport transport(commons, self, setup.direct ? &view : nullptr, patience);
  Executor executor(transport, setup.ranks, setup.slice);

  std::vector<std::byte> own(setup.direct ? 0 : 2 * most_bytes);
  std::byte* const base = setup.direct ? setup.heap + 2 * most_bytes * self.index() : own.data();
  auto* const in = reinterpret_cast<float*>(base);
  auto* const out = reinterpret_cast<float*>(base + most_bytes);
  for (std::size_t i = 0; i < most_bytes / sizeof(float); ++i) in[i] = brought(self.index(), i);
  for (std::size_t bytes = 8; bytes <= most_bytes; bytes *= bytes < 64        ? 32
                                                            : bytes < 1 << 20 ? 16
                                                                              : 4) {
    measure(setup, self, executor, in, out, bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: memory_exec RANKS ALGORITHM staged|direct [SLICE_BYTES]\n");
    return 2;
  }
  Setup setup{.ranks = static_cast<std::uint32_t>(std::atoi(argv[1])),
              .algorithm = argv[2],
              .direct = std::string(argv[3]) == "direct",
              .slice = argc > 4 ? static_cast<std::uint32_t>(std::atoi(argv[4])) : 65536,
              .commons = nullptr,
              .heap = nullptr};
  if (setup.ranks < 1 || setup.ranks > slots) {
    std::fprintf(stderr, "memory_exec: 1 to %u ranks\n", slots);
    return 2;
  }
  setup.commons =
      shared_memory(Commons::size(setup.ranks, {.slots = slots, .slot_bytes = setup.slice}));
  setup.heap = shared_memory(2 * most_bytes * setup.ranks);
  std::printf("%10s %12s %12s %8s\n", "bytes", "median us", "p90 us", "#wrong");
  std::fflush(stdout);
  for (std::uint32_t r = 0; r < setup.ranks; ++r) {
    if (fork() != 0) continue;
    be(Rank{r}, setup);
    std::_Exit(0);
  }
  while (wait(nullptr) > 0) {
  }
}
