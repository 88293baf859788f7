/// Measures the time to build a network, to compute a path, and to search for a rank order.
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <tutti/network/generator.hpp>
#include <tutti/network/optimum.hpp>
#include <tutti/network/ring_order.hpp>
#include <tutti/network/routes.hpp>

namespace {

using namespace tutti;

double seconds_of(const std::function<void()>& what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Nanoseconds per path, over a million random pairs.
double path_nanoseconds(const Network& network, double& links_each) {
  Routes routes(network);
  std::vector<LinkId> links;
  const std::uint32_t p = network.rank_count();
  std::size_t total = 0;
  constexpr std::uint32_t count = 1'000'000;
  constexpr std::uint32_t stride = 40503;
  const auto run = [&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      links.clear();
      routes.append(i % p, (i % p + i * stride) % p, links);
      total += links.size();
    }
  };
  // A first pass fills the caches.
  run();
  total = 0;
  const double seconds = seconds_of(run);
  links_each = static_cast<double>(total) / count;
  return seconds / count * 1e9;
}

void measure_paths() {
  std::printf("%-34s %10s %12s %12s\n", "network", "built in", "a path takes", "links each");
  for (const std::string spec :
       {"star:p=65536", "fat_tree:k=64", "torus:64x32x32", "torus:4x4x4", "hypercube:d=10",
        "multi_rail:nodes=128,gpus=8", "dragonfly:g=73,a=12,p=6", "full_mesh:p=256"}) {
    Network network;
    const double built = seconds_of([&] { network = generate(spec); });
    double links = 0;
    const double each = path_nanoseconds(network, links);
    std::printf("%-34s %7.1f ms %9.0f ns %12.1f\n", spec.c_str(), built * 1e3, each, links);
  }
  Network irregular = generate("dragonfly:g=9,a=4,p=2");
  irregular.wiring = {};
  double links = 0;
  const double each = path_nanoseconds(irregular, links);
  std::printf("%-34s %10s %9.0f ns %12.1f\n", "dragonfly:g=9,a=4,p=2, searched", "", each, links);
}

void measure_optimum() {
  std::printf("\n%-34s %10s\n", "network", "optimum in");
  for (const std::string spec : {"torus:8x8", "fat_tree:k=8", "multi_rail:nodes=16,gpus=8"}) {
    const Network network = generate(spec);
    const double seconds = seconds_of([&] { (void)optimum(network); });
    std::printf("%-34s %7.1f ms\n", spec.c_str(), seconds * 1e3);
  }
}

PairTimes pseudorandom_times(std::uint32_t p) {
  std::vector<double> times(std::size_t{p} * p);
  std::uint64_t state = 1;
  for (double& each : times) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    each = 1 + static_cast<double>(state >> 54);
  }
  return {p, std::move(times)};
}

void print_order(const std::string& what, const RingOrder& order, double seconds) {
  std::printf("%-34s %7.2f s  slowest %.3g (given %.3g), busiest %.3g (%.3g), sum %.3g (%.3g)\n",
              what.c_str(), seconds, order.cost.slowest, order.given.slowest, order.cost.contention,
              order.given.contention, order.cost.sum, order.given.sum);
}

void measure_orders() {
  std::printf("\n%-34s %10s\n", "ring of 1024 ranks", "ordered in");
  const PairTimes times = pseudorandom_times(1024);
  RingOrder order;
  const double seconds = seconds_of([&] { order = order_ring(times); });
  print_order("random times, 1 to 1024", order, seconds);
  for (const std::string spec : {"fat_tree:k=16", "torus:32x32", "multi_rail:nodes=128,gpus=8"}) {
    Network network = generate(spec);
    // Shuffled, so that the search can improve the order.
    std::vector<NodeId> dealt(1024);
    for (std::uint32_t r = 0; r < 1024; ++r) dealt[r * 389 % 1024] = network.ranks[r];
    network.ranks = dealt;
    network.wiring = {};
    Routes routes(network);
    const double taken = seconds_of([&] { order = order_ring(network, routes, 1 << 20); });
    print_order(spec + ", shuffled", order, taken);
  }
}

}  // namespace

int main() {
  measure_paths();
  measure_optimum();
  measure_orders();
  return 0;
}
