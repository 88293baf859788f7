#include "kernels/dispatch.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "kernels/fold.hpp"

namespace tutti::test {
namespace {

#if defined(__x86_64__)

/// The names of the CPU's extensions, as the kernel knows them.
std::set<std::string> extensions() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST(Dispatch, FindsTheInstructionSetsOfThisCpu) {
  const std::set<std::string> found = extensions();
  if (found.empty()) GTEST_SKIP() << "no /proc/cpuinfo";
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::all_of(names.begin(), names.end(),
                       [&](const char* name) { return found.contains(name); });
  };
  const bool sse4 = has({"ssse3", "sse4_1", "sse4_2", "aes", "pclmulqdq"});
  const bool avx2 = sse4 && has({"avx2", "fma", "bmi1", "bmi2", "f16c", "abm"});
  const bool avx3 = avx2 && has({"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512cd"});
  EXPECT_EQ((cpu_targets() & HWY_SSE4) != 0, sse4);
  EXPECT_EQ((cpu_targets() & HWY_AVX2) != 0, avx2);
  EXPECT_EQ((cpu_targets() & HWY_AVX3) != 0, avx3);
}

#endif

int one() { return 1; }
int two() { return 2; }

TEST(Dispatch, ChoosesTheBestVersionThatWasCompiled) {
  const std::string best = fold_target();
  restrict_targets(HWY_EMU128 | HWY_SCALAR);
  const std::string plainest = fold_target();
  restrict_targets(0);
  EXPECT_EQ(fold_target(), best);
  EXPECT_EQ(best == plainest, (cpu_targets() & (HWY_AVX2 | HWY_AVX3)) == 0);
  using Function = int (*)();
  const Function versions[] = {one, two};
  EXPECT_EQ(best_version(versions, 0), two) << "the last one is for any CPU";
}

}  // namespace
}  // namespace tutti::test
