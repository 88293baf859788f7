/// A training of any length during which ranks die and others join.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "faults/chaos.hpp"

int main(int count, char** words) {
  std::uint64_t seed = 1;
  long seconds = 60;
  for (int i = 1; i < count; i += 2) {
    const long value = i + 1 < count ? std::strtol(words[i + 1], nullptr, 10) : 0;
    if (value > 0 && std::strcmp(words[i], "--seconds") == 0) {
      seconds = value;
    } else if (value > 0 && std::strcmp(words[i], "--seed") == 0) {
      seed = static_cast<std::uint64_t>(value);
    } else {
      std::fputs("usage: soak [--seconds N] [--seed S]\n", stderr);
      return 2;
    }
  }
  const tutti::test::ChaosResult result =
      tutti::test::run_chaos(seed, 8, std::chrono::seconds(seconds));
  std::printf(
      "%llu steps, %llu kills, %llu joins, %llu rejected (%s), longest pause %.3f s, "
      "error of the model %.2e\n",
      static_cast<unsigned long long>(result.steps), static_cast<unsigned long long>(result.kills),
      static_cast<unsigned long long>(result.joins),
      static_cast<unsigned long long>(result.rejections), result.last_refusal.c_str(),
      result.longest_pause_s, result.error);
  for (const std::string& wrong : result.wrong) std::printf("WRONG: %s\n", wrong.c_str());
  return result.wrong.empty() ? 0 : 1;
}
