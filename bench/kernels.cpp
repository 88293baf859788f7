// Measures folds beside memcpy of the same output: kernels [BYTES]. GB/s of output on one core, the
// best of many samples.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/exact_fold.hpp"
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

/// Numbers of several magnitudes, so that exact sums are not trivial.
void fill(tutti::DType dtype, std::vector<std::vector<std::byte>>& inputs) {
  std::uint32_t random = 1;
  const bool is_wide = dtype == tutti::DType::f64 || dtype == tutti::DType::complex128;
  const bool is_half = dtype == tutti::DType::f16 || dtype == tutti::DType::bf16;
  const bool is_byte = size_of(dtype) == 1;
  const std::size_t step = is_wide ? sizeof(double) : is_half ? 2 : is_byte ? 1 : sizeof(float);
  for (std::vector<std::byte>& input : inputs) {
    for (std::size_t i = 0; i + step <= input.size(); i += step) {
      random = random * 1664525 + 1013904223;
      const double number = (static_cast<double>(random >> 8) - (1 << 23)) / (1 << 23);
      const auto single = static_cast<float>(number);
      // Positive and negative numbers around 1, both as f16 and as bf16.
      const auto half = static_cast<std::uint16_t>(random >> 31 << 15 | 0x3C00 | random >> 22);
      const auto fp8 = static_cast<std::uint8_t>(random >> 31 << 7 | 0x38 | (random >> 28 & 3));
      const void* const from = is_wide   ? static_cast<const void*>(&number)
                               : is_byte ? static_cast<const void*>(&fp8)
                               : is_half ? static_cast<const void*>(&half)
                                         : static_cast<const void*>(&single);
      std::memcpy(input.data() + i, from, step);
    }
  }
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
  std::printf("%-16s", "sum of");
  for (const std::size_t k : operands) std::printf("%10zu      ", k);
  std::printf("\n");
  const auto print = [&](const std::string& what, tutti::DType dtype, tutti::Fold fold) {
    std::printf("%-16s", what.c_str());
    for (const std::size_t k : operands) {
      std::array<const void*, 8> in{};
      for (std::size_t i = 0; i < k; ++i) in[i] = inputs[i].data();
      const std::size_t count = bytes / size_of(dtype);
      const double rate =
          gigabytes_per_second(bytes, [&] { fold(output.data(), nullptr, in.data(), k, count); });
      std::printf("%8.1f (%.2f) ", rate, rate / copy);
    }
    std::printf("\n");
  };
  for (const tutti::DType dtype : tutti::dtypes()) {
    const std::string what(name(dtype));
    print(what, dtype, tutti::fold(dtype, tutti::Op::sum));
    if (is_integral(dtype)) continue;
    fill(dtype, inputs);
    print(what + " exact", dtype, tutti::exact_fold(dtype));
  }
}
