#include "cli/measure/memory_rates.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "cli/measure/best_time.hpp"
#include "kernels/fold.hpp"

namespace tutti::measure {
namespace {

/// The time for each figure.
constexpr std::chrono::milliseconds each_rate{8};

/// Memory for all buffers together: larger than most caches, and touched quickly.
constexpr std::uint64_t most_memory = std::uint64_t{64} << 20U;
constexpr std::uint64_t smallest_class = std::uint64_t{4} << 10U;
constexpr std::uint64_t between_classes = 4;
constexpr std::uint64_t granule = 4096;
/// Buffers at equal offsets would evict each other from the cache.
constexpr std::uint64_t stagger = std::uint64_t{17} * 64;
/// A result that is written to several buffers is in the first-level cache meanwhile.
constexpr std::uint64_t block_bytes = std::uint64_t{1} << 13U;

/// The inputs and outputs of all ranks, and threads that each process one slice of them.
class Team {
 public:
  Team(std::uint32_t ranks, std::uint64_t most_bytes, const std::vector<cpu_set_t>& cores)
      : ranks_(ranks),
        cores_(cores),
        threads_(std::min(ranks, static_cast<std::uint32_t>(cores.size()))),
        most_(std::clamp(most_bytes, granule, std::max(granule, most_memory / (2 * ranks))) /
              granule * granule),
        memory_((most_ + stagger) * 2 * ranks),
        add_(fold(DType::f32, Op::sum)) {}

  [[nodiscard]] std::uint64_t most() const { return most_; }

  [[nodiscard]] Machine::Memory measure(std::uint64_t bytes) {
    const std::uint64_t slice = std::max<std::uint64_t>(64, bytes / threads_ / 64 * 64);
    const std::uint32_t copies = std::max(ranks_ - 1, 1U);
    Machine::Memory found{.bytes = bytes};
    found.copy = rate(slice * copies, [&](std::uint64_t at) { copy_result(at, slice); });
    for (const bool in_place : {false, true}) {
      const std::uint32_t output = in_place ? 0 : ranks_;
      Machine::Sum& sum = in_place ? found.in_place : found.out_of_place;
      sum.once = rate(slice, [&](std::uint64_t at) { add_up(at, slice, output, 1); });
      sum.everywhere =
          std::max(rate(slice, [&](std::uint64_t at) { add_up(at, slice, output, ranks_); }),
                   1 / (1 / sum.once + copies / found.copy));
    }
    return found;
  }

 private:
  /// Inputs are 0 to p−1, outputs p to 2p−1. In place the outputs are the inputs.
  [[nodiscard]] std::byte* buffer(std::uint32_t index) {
    return memory_.data() + index * (most_ + stagger);
  }

  void copy_result(std::uint64_t from, std::uint64_t slice) {
    for (std::uint32_t i = 0; i < std::max(ranks_ - 1, 1U); ++i) {
      std::memcpy(buffer(i) + from, buffer(ranks_) + from, slice);
    }
  }

  /// Adds the inputs of all ranks up, and writes the result to `outputs` buffers in the same pass.
  void add_up(std::uint64_t from, std::uint64_t slice, std::uint32_t output,
              std::uint32_t outputs) {
    thread_local std::vector<const void*> operands;
    operands.resize(ranks_);
    const std::uint64_t step = outputs > 2 ? block_bytes : slice;
    for (std::uint64_t at = from; at < from + slice; at += step) {
      const std::uint64_t some = std::min(step, from + slice - at);
      for (std::uint32_t i = 0; i < ranks_; ++i) operands[i] = buffer(i) + at;
      add_(buffer(output) + at, outputs > 1 ? buffer(output + 1) + at : nullptr, operands.data(),
           ranks_, some / sizeof(float));
      for (std::uint32_t i = 2; i < outputs; ++i) {
        std::memcpy(buffer(output + i) + at, buffer(output) + at, some);
      }
    }
  }

  /// Bytes per second of all threads together. Each call work(begin of the slice) handles `bytes`.
  template <class Work>
  [[nodiscard]] double rate(std::uint64_t bytes, const Work& work) {
    std::vector<double> rates(threads_);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < threads_; ++t) {
      threads.emplace_back([&, t] {
        // Two threads of one measurement must not share a core.
        ::sched_setaffinity(0, sizeof cores_[t], &cores_[t]);
        const std::uint64_t from = most_ / threads_ / 64 * 64 * t;
        rates[t] = static_cast<double>(bytes) / best_time([&] { work(from); }, each_rate);
      });
    }
    for (std::thread& each : threads) each.join();
    double sum = 0;
    for (const double each : rates) sum += each;
    return sum;
  }

  std::uint32_t ranks_;
  const std::vector<cpu_set_t>& cores_;
  std::uint32_t threads_;
  std::uint64_t most_;
  std::vector<std::byte> memory_;
  Fold add_;
};

void raise_to(Machine::Sum& sum, const Machine::Sum& of_more) {
  sum.once = std::max(sum.once, of_more.once);
  sum.everywhere = std::max(sum.everywhere, of_more.everywhere);
}

}  // namespace

std::vector<Machine::Memory> measure_memory(std::uint32_t ranks, std::uint64_t most_bytes,
                                            const std::vector<cpu_set_t>& cores) {
  Team team(ranks, most_bytes, cores);
  std::vector<Machine::Memory> found;
  for (std::uint64_t bytes = smallest_class; bytes < team.most(); bytes *= between_classes) {
    found.push_back(team.measure(bytes));
  }
  found.push_back(team.measure(team.most()));
  for (std::size_t i = found.size() - 1; i-- > 0;) {
    found[i].copy = std::max(found[i].copy, found[i + 1].copy);
    raise_to(found[i].out_of_place, found[i + 1].out_of_place);
    raise_to(found[i].in_place, found[i + 1].in_place);
  }
  // An input that is also the output is one buffer less to touch.
  for (Machine::Memory& each : found) raise_to(each.in_place, each.out_of_place);
  return found;
}

}  // namespace tutti::measure
