// Measures the gain of buckets: averages 1000 tensors of 1 MiB and 10,000 of 4 KiB over all ranks
// one by one, in buckets, and in buckets while the caller computes, and compares with the α-β
// model.
//   tutti run -n 2 -- build/bench/bucketer [FRACTION] [ROUNDS] [COMPUTE]
// FRACTION: the fraction of the tensors to use (1). ROUNDS: timed rounds, cases in turns (7).
// COMPUTE: computing takes this many times as long as communication in buckets (1). A time is that
// of the last rank.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <tutti/bucketer.hpp>
#include <tutti/memory.hpp>

namespace {

using Clock = std::chrono::steady_clock;

struct Workload {
  std::size_t tensors = 0;
  std::size_t bytes = 0;
  bool adjacent = false;
};

struct Parameters {
  double fraction = 1;
  int rounds = 7;
  double compute = 1;
};

/// The tensors of a workload: each in its own memory, or adjacent in memory that the ranks of a
/// host share.
class Tensors {
 public:
  explicit Tensors(const Workload& workload) {
    const std::size_t count = workload.bytes / sizeof(float);
    if (workload.adjacent) flat_.resize(count * workload.tensors);
    for (std::size_t i = 0; i < workload.tensors; ++i) {
      if (workload.adjacent) {
        spans_.emplace_back(flat_.data() + i * count, count);
      } else {
        spans_.emplace_back(scattered_.emplace_back(count + 16).data(), count);
      }
      declared_.push_back(tutti::tensor(spans_.back()));
    }
  }

  [[nodiscard]] std::size_t size() const { return spans_.size(); }
  [[nodiscard]] std::span<float> operator[](std::size_t i) const { return spans_[i]; }
  [[nodiscard]] const std::vector<tutti::Tensor>& declared() const { return declared_; }

  void fill(float value) const {
    for (const std::span<float> each : spans_) std::fill(each.begin(), each.end(), value);
  }
  [[nodiscard]] bool hold(float value) const {
    return std::ranges::all_of(spans_, [&](std::span<float> each) {
      return std::ranges::all_of(each, [&](float element) { return element == value; });
    });
  }

 private:
  std::vector<float, tutti::Allocator<float>> flat_;
  std::vector<std::vector<float>> scattered_;
  std::vector<std::span<float>> spans_;
  std::vector<tutti::Tensor> declared_;
};

/// The last rank's seconds.
double timed(tutti::Communicator& comm, const std::function<void()>& f) {
  comm.barrier();
  const Clock::time_point begin = Clock::now();
  f();
  std::array<double, 1> seconds = {std::chrono::duration<double>(Clock::now() - begin).count()};
  comm.all_reduce(seconds, tutti::Op::max);
  return seconds[0];
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

double median_of(tutti::Communicator& comm, std::size_t times, const std::function<void()>& f) {
  std::vector<double> all(times);
  for (double& each : all) each = timed(comm, f);
  return median(all);
}

/// T(n) = α + βn, from an allreduce of 8 bytes and one of 25 MiB.
struct AlphaBeta {
  double alpha = 0;
  double beta = 0;

  [[nodiscard]] double operator()(double bytes) const { return alpha + beta * bytes; }
};

AlphaBeta measure(tutti::Communicator& comm, bool adjacent) {
  constexpr std::size_t large = 25 << 20;
  const Tensors tensors({.tensors = 1, .bytes = large, .adjacent = adjacent});
  const auto take = [&](std::size_t bytes, int calls) {
    return median_of(comm, 9,
                     [&] {
                       for (int call = 0; call < calls; ++call) {
                         comm.all_reduce(tensors[0].first(bytes / sizeof(float)), tutti::Op::avg);
                       }
                     }) /
           calls;
  };
  const double alpha = take(8, 1000);
  return {.alpha = alpha, .beta = (take(large, 4) - alpha) / large};
}

/// Arithmetic on every element, `passes` times, that hardly changes the values.
void compute(std::span<float> data, int passes) {
  constexpr std::size_t block = 64;
  for (std::size_t at = 0; at + block <= data.size(); at += block) {
    std::array<float, block> part{};
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), block, part.begin());
    for (int pass = 0; pass < passes; ++pass) {
      for (float& element : part) element = element * 0.999999F + 0.000001F;
    }
    std::copy_n(part.begin(), block, data.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

/// One way to reduce all tensors, and its measurements.
struct Case {
  const char* what = "";
  std::function<void()> run{};
  double predicted = 0;  // Without computing.
  bool computes = false;
  std::vector<double> times{};
};

/// The predicted time of communication beyond computing: tensors become ready evenly over
/// `computing` seconds, and another core communicates.
double predict_overlap(const tutti::Bucketer& bucketer, const Tensors& tensors,
                       const AlphaBeta& model, double computing) {
  std::vector<double> bytes(bucketer.buckets());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    bytes[bucketer.bucket_of(i)] += static_cast<double>(tensors[i].size_bytes());
  }
  const double all = static_cast<double>(tensors.size() * tensors[0].size_bytes());
  double complete = 0;
  double done = 0;
  for (const double each : bytes) {
    complete += each;
    done = std::max(done, computing * complete / all) + model(each);
  }
  return done - computing;
}

double predict_buckets(const tutti::Bucketer& bucketer, const Tensors& tensors,
                       const AlphaBeta& model) {
  return predict_overlap(bucketer, tensors, model, 0);
}

/// The number of passes for which computing takes `seconds`, the same on all ranks.
int passes_for(tutti::Communicator& comm, const Tensors& tensors, double seconds) {
  constexpr int tried = 20;
  const auto all = [&](int passes) {
    return median_of(comm, 3, [&] {
      for (std::size_t i = 0; i < tensors.size(); ++i) compute(tensors[i], passes);
    });
  };
  const double none = all(0);
  const double one = std::max(1e-9, (all(tried) - none) / tried);
  return std::max(0, static_cast<int>(std::lround((seconds - none) / one)));
}

void print(const std::vector<Case>& cases, double computing) {
  const double individually = median(cases.front().times);
  std::printf("%-26s %9s %19s %14s %14s %12s\n", "", "ms", "range", "beyond", "× as fast as",
              "predicted");
  std::printf("%-26s %9s %19s %14s %14s %12s\n", "", "", "", "computing ms", "individually", "ms");
  for (const Case& each : cases) {
    const auto [least, most] = std::ranges::minmax(each.times);
    const double visible = median(each.times) - (each.computes ? computing : 0);
    std::printf("%-26s %9.2f %8.2f … %8.2f %14.2f", each.what, median(each.times) * 1e3,
                least * 1e3, most * 1e3, visible * 1e3);
    if (each.predicted > 0) {
      std::printf(" %14.2f %12.2f", individually / visible, each.predicted * 1e3);
    }
    std::printf("\n");
  }
  std::printf("\n");
  std::fflush(stdout);
}

/// Whether all results were right.
bool run(tutti::Communicator& comm, const Workload& workload, const Parameters& parameters) {
  const AlphaBeta model = measure(comm, workload.adjacent);
  const Tensors tensors(workload);
  tutti::Bucketer bucketer(comm, tensors.declared());
  const auto reduce_in_buckets = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) bucketer.ready(i);
    bucketer.finish();
  };
  const auto reduce_individually = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) comm.all_reduce(tensors[i], tutti::Op::avg);
  };
  bool right = true;
  const auto mean = static_cast<float>(comm.size() + 1) / 2;
  for (const std::function<void()>& reduce :
       {std::function<void()>(reduce_individually), std::function<void()>(reduce_in_buckets)}) {
    tensors.fill(static_cast<float>(comm.rank() + 1));
    reduce();
    right = tensors.hold(mean) && right;
  }

  const int passes = passes_for(comm, tensors, parameters.compute * timed(comm, reduce_in_buckets));
  const auto compute_all = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) compute(tensors[i], passes);
  };
  const auto overlap = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      compute(tensors[i], passes);
      bucketer.ready(i);
    }
    bucketer.finish();
  };
  const double individually =
      static_cast<double>(tensors.size()) * model(static_cast<double>(workload.bytes));
  const double bucketed = predict_buckets(bucketer, tensors, model);
  std::vector<Case> cases = {
      {.what = "individually", .run = reduce_individually, .predicted = individually},
      {.what = "bucketed", .run = reduce_in_buckets, .predicted = bucketed},
      {.what = "computing alone", .run = compute_all, .computes = true},
      {.what = "computing, then bucketed",
       .run =
           [&] {
             compute_all();
             reduce_in_buckets();
           },
       .predicted = bucketed,
       .computes = true},
      {.what = "bucketed with overlap", .run = overlap, .computes = true}};
  for (int round = 0; round < parameters.rounds; ++round) {
    for (Case& each : cases) each.times.push_back(timed(comm, each.run));
  }
  const double computing = median(cases[2].times);
  cases.back().predicted = predict_overlap(bucketer, tensors, model, computing);
  if (comm.rank() == 0) {
    std::printf("%zu tensors of %zu KiB, %s; %s\nα = %.2f µs, 1/β = %.2f GB/s\n", tensors.size(),
                workload.bytes >> 10, workload.adjacent ? "adjacent, shared" : "scattered, plain",
                bucketer.description().c_str(), model.alpha * 1e6, 1e-9 / model.beta);
    print(cases, computing);
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  Parameters parameters;
  if (argc > 1) parameters.fraction = std::strtod(argv[1], nullptr);
  if (argc > 2) parameters.rounds = std::max(1, std::atoi(argv[2]));
  if (argc > 3) parameters.compute = std::strtod(argv[3], nullptr);
  tutti::Communicator comm = tutti::Communicator::from_environment();
  const auto some = [&](double tensors) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(tensors * parameters.fraction));
  };
  if (comm.rank() == 0) {
    std::printf("%s; %u cores. Medians of %d rounds.\n\n", comm.description().c_str(),
                std::thread::hardware_concurrency(), parameters.rounds);
  }
  bool right = true;
  for (const bool adjacent : {false, true}) {
    right = run(comm, {some(1000), 1 << 20, adjacent}, parameters) && right;
    right = run(comm, {some(10000), 4 << 10, adjacent}, parameters) && right;
  }
  if (!right) std::fprintf(stderr, "rank %u: some results are wrong\n", comm.rank());
  return right ? 0 : 1;
}
