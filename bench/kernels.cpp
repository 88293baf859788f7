// How fast contributions are folded, beside memcpy of as many bytes of output: kernels [BYTES].
// GB/s of output on one core, the best of many samples.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/fold.hpp"

namespace {

using Clock = std::chrono::steady_clock;

template <class F>
double gigabytes_per_second(std::size_t bytes, const F& run) {
  double best = 0;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(60);
  while (Clock::now() < end) {
    const Clock::time_point begin = Clock::now();
    constexpr int batch = 8;
    for (int i = 0; i < batch; ++i) run();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::max(best, static_cast<double>(batch) * static_cast<double>(bytes) / seconds / 1e9);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 65536;
  constexpr std::array<std::size_t, 4> operands = {2, 3, 4, 8};
  std::vector<std::vector<std::byte>> inputs(8, std::vector<std::byte>(bytes));
  std::vector<std::byte> output(bytes);
  const double copy =
      gigabytes_per_second(bytes, [&] { std::memcpy(output.data(), inputs[0].data(), bytes); });
  std::printf("%zu bytes, %s: memcpy %.1f GB/s; GB/s of output (fraction of memcpy)\n", bytes,
              tutti::fold_target(), copy);
  std::printf("%-10s", "sum of");
  for (const std::size_t k : operands) std::printf("%10zu      ", k);
  std::printf("\n");
  for (const tutti::DType dtype : tutti::dtypes()) {
    std::printf("%-10s", std::string(name(dtype)).c_str());
    for (const std::size_t k : operands) {
      std::array<const void*, 8> in{};
      for (std::size_t i = 0; i < k; ++i) in[i] = inputs[i].data();
      const tutti::Fold fold = tutti::fold(dtype, tutti::Op::sum);
      const std::size_t count = bytes / size_of(dtype);
      const double rate =
          gigabytes_per_second(bytes, [&] { fold(output.data(), nullptr, in.data(), k, count); });
      std::printf("%8.1f (%.2f) ", rate, rate / copy);
    }
    std::printf("\n");
  }
}
