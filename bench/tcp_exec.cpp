// How fast the executor runs an allreduce between processes over TCP on this host, without a
// communicator around it: tcp_exec RANKS ALGORITHM [SLICE_BYTES [BYTES]], of one size or of many.
// Median, 90th percentile and least of rank 0's time from call to call, and a check of every
// element.
#include <sched.h>
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
#include "transport/tcp/tcp_transport.hpp"

namespace {

using namespace tutti;

constexpr std::size_t most_bytes = std::size_t{64} << 20;

constexpr std::uint32_t most_ranks = 64;

struct Setup {
  std::uint32_t ranks = 0;
  std::string algorithm{};
  std::size_t slice = 0;
  std::size_t bytes = 0;  // 0: from 8 bytes to 64 MiB.
  Secret secret{};
  std::vector<Contact> contacts{};
  std::vector<Socket> listeners{};
};

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
  const Plan plan =
      compile(chosen.program(problem, self), contract, self, Aliasing::out_of_place,
              even_layout(contract, count), sizeof(float), [](Rank peer) { return peer.index(); });
  std::vector<std::byte> scratch(plan.scratch_bytes + 1);
  std::vector<std::byte> spare(plan.spare_bytes + 1);
  const Buffers buffers{.input = reinterpret_cast<const std::byte*>(in),
                        .output = reinterpret_cast<std::byte*>(out),
                        .scratch = scratch.data(),
                        .spare = spare.data()};
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(60);
  const auto run = [&] {
    executor.run(plan, buffers, fold(DType::f32, Op::sum), sizeof(float), deadline);
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
  std::printf("%10zu %12.2f %12.2f %12.2f %8zu\n", bytes, micros[micros.size() / 2],
              micros[micros.size() * 9 / 10], micros.front(), wrong);
  std::fflush(stdout);
}

void be(Rank self, Setup& setup) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const bool roomy = setup.ranks <= cores;
  if (roomy) {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(self.index(), &own);
    sched_setaffinity(0, sizeof own, &own);
  }
  const Patience patience =
      roomy ? Patience{.spins = 20000, .yields = 0} : Patience{.spins = 2, .yields = 20};
  TcpTransport transport(self, setup.contacts, std::move(setup.listeners[self.index()]),
                         setup.secret, "bench", patience);
  setup.listeners.clear();
  Executor executor(transport, setup.ranks, setup.slice);

  std::vector<float> in(most_bytes / sizeof(float));
  std::vector<float> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = brought(self.index(), i);
  if (setup.bytes > 0) {
    measure(setup, self, executor, in.data(), out.data(), std::min(setup.bytes, most_bytes));
    return;
  }
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4} << 10, std::size_t{64} << 10,
                                  std::size_t{1} << 20, std::size_t{16} << 20, most_bytes}) {
    measure(setup, self, executor, in.data(), out.data(), bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: tcp_exec RANKS ALGORITHM [SLICE_BYTES [BYTES]]\n");
    return 2;
  }
  Setup setup;
  setup.ranks = static_cast<std::uint32_t>(std::atoi(argv[1]));
  setup.algorithm = argv[2];
  setup.slice = argc > 3 ? static_cast<std::size_t>(std::atol(argv[3])) : std::size_t{256} << 10;
  setup.bytes = argc > 4 ? static_cast<std::size_t>(std::atol(argv[4])) : 0;
  setup.secret = Secret::random();
  if (setup.ranks < 1 || setup.ranks > most_ranks) {
    std::fprintf(stderr, "tcp_exec: 1 to %u ranks\n", most_ranks);
    return 2;
  }
  for (std::uint32_t r = 0; r < setup.ranks; ++r) {
    setup.listeners.push_back(listen_on(Endpoint::parse("127.0.0.1:0"), {}));
    setup.contacts.push_back({.host = "localhost", .endpoints = {bound_to(setup.listeners[r])}});
  }
  std::printf("%10s %12s %12s %12s %8s\n", "bytes", "median us", "p90 us", "least us", "#wrong");
  std::fflush(stdout);
  for (std::uint32_t r = 0; r < setup.ranks; ++r) {
    if (fork() != 0) continue;
    be(Rank{r}, setup);
    std::_Exit(0);
  }
  while (wait(nullptr) > 0) {
  }
}
