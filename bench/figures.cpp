// Measures what docs/figures.md reports about schedules, and prints it as Markdown.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/schedule/verify.hpp>
#include <tutti/version.hpp>

namespace {

using namespace tutti;

constexpr int repeats = 3;

/// The median of a few runs, the fastest and slowest, and the processor time of all threads in the
/// median run: that depends less on other load.
struct Timing {
  double median;
  double least;
  double most;
  double processor;
};

Timing timed(const std::function<void()>& work) {
  std::vector<std::pair<double, double>> runs;  // Seconds, and those of processors.
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t used = std::clock();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    runs.emplace_back(took.count(), static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
  }
  std::sort(runs.begin(), runs.end());
  const auto& [median, processor] = runs[repeats / 2];
  return {median, runs.front().first, runs.back().first, processor};
}

void print(const std::string& what, const std::string& bar, const Timing& timing) {
  const bool short_times = timing.median < 1;
  const double scale = short_times ? 1e3 : 1;
  const char* const unit = short_times ? "ms" : "s";
  std::printf("| %s | %s | %.3g %s | %.3g – %.3g | %.3g %s |\n", what.c_str(), bar.c_str(),
              timing.median * scale, unit, timing.least * scale, timing.most * scale,
              timing.processor * scale, unit);
  std::fflush(stdout);
}

std::vector<Problem> problems(const Algorithm& algorithm, std::uint32_t p) {
  std::vector<Problem> found;
  if (algorithm.needs_shape()) {
    for (std::uint32_t x = 1; x <= p; ++x) {
      if (p % x != 0) continue;
      found.push_back({.ranks = p, .shape = {{x, p / x}}});
      for (std::uint32_t y = 1; algorithm.dimensions.most > 2 && y <= p / x; ++y) {
        if (p / x % y == 0) found.push_back({.ranks = p, .shape = {{x, y, p / x / y}}});
      }
    }
    return found;
  }
  const std::uint32_t roots = has_root(algorithm.collective) ? p : 1;
  for (std::uint32_t root = 0; root < roots; ++root) {
    found.push_back({.ranks = p, .root = root});
  }
  return found;
}

/// Calls task(i) for i = 0 … count−1, as the command does.
void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < count; at = next++) task(at);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Verifies every algorithm, root and shape for 1 … most ranks, on all cores.
std::uint64_t verify_everything(std::uint32_t most) {
  std::vector<std::pair<const Algorithm*, Problem>> tasks;
  for (const Algorithm& each : algorithms()) {
    for (std::uint32_t p = 1; p <= most; ++p) {
      for (const Problem& problem : problems(each, p)) tasks.emplace_back(&each, problem);
    }
  }
  on_all_cores(tasks.size(), [&](std::size_t i) {
    const Verification verdict = verify(tasks[i].first->schedule(tasks[i].second));
    if (verdict.ok()) return;
    std::fprintf(stderr, "%s\n", verdict.violations.front().message.c_str());
    std::exit(1);
  });
  return tasks.size();
}

void price_allreduce(std::uint32_t p) {
  const std::span<const Algorithm> all = algorithms(Collective::allreduce);
  on_all_cores(all.size(), [&](std::size_t i) {
    const Schedule schedule =
        all[i].schedule({.ranks = p, .shape = all[i].needs_shape() ? squarest(p) : Shape{}});
    const Layout layout = even_layout(schedule.contract, 64 << 20);
    const CostModel model{.link = {.alpha = 1e-6, .beta = 1e-11}};
    const Pricer pricer(schedule);
    (void)count(schedule, layout);
    (void)pricer.price(layout, model, Ports::one);
    (void)pricer.price(layout, model, Ports::unlimited);
  });
}

}  // namespace

int main() {
  std::printf("tutti %s, %u cores. Median of %d runs, and the range.\n\n",
              std::string(version).c_str(), std::thread::hardware_concurrency(), repeats);
  std::printf("| what | bar | measured | range | processor time |\n|---|---|---|---|---|\n");
  const std::uint64_t up_to_33 = verify_everything(33);
  print("verify all " + std::to_string(algorithms().size()) +
            " algorithms, p = 1 … 33, all roots and shapes: " + std::to_string(up_to_33) +
            " schedules, in place and out of place",
        "60 s", timed([] { verify_everything(33); }));
  std::uint64_t up_to_64 = 0;
  print("the same for p = 1 … 64", "120 s", timed([&] { up_to_64 = verify_everything(64); }));
  const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 1024});
  print("verify one ring allreduce of 1024 ranks, out of place", "seconds",
        timed([&] { (void)verify(ring, Aliasing::out_of_place); }));
  print("count and price all " + std::to_string(algorithms(Collective::allreduce).size()) +
            " allreduces of 1024 ranks in both models",
        "5 s", timed([] { price_allreduce(1024); }));
  print("build one rank's program of a ring allreduce of 65,536 ranks", "50 ms",
        timed([] { (void)algorithm("allreduce/ring").program({.ranks = 65536}, Rank{7}); }));
  std::printf("\nThe second line is %llu schedules.\n", static_cast<unsigned long long>(up_to_64));
}
