#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz/target.hpp"
#include "support/random.hpp"
#include "support/sanitizer.hpp"
#include "support/spoil.hpp"

namespace tutti::test {

/// Keeps GoogleTest from printing the bytes of a target.
static void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

namespace fs = std::filesystem;

struct Input {
  std::string name{};
  std::string bytes{};
};

/// The corpus of a target, sorted by name so that the order is the same on every machine.
std::vector<Input> corpus(std::string_view target) {
  std::vector<Input> inputs;
  for (const auto& entry : fs::directory_iterator(fs::path(TUTTI_CORPUS_DIR) / target)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    inputs.push_back({.name = entry.path().filename(), .bytes = bytes.str()});
  }
  std::sort(inputs.begin(), inputs.end(),
            [](const Input& a, const Input& b) { return a.name < b.name; });
  return inputs;
}

/// True if the target reports no finding for the input.
testing::AssertionResult holds(const Target& target, std::string_view input) {
  try {
    target.run(input);
    return testing::AssertionSuccess();
  } catch (const std::exception& error) {
    return testing::AssertionFailure() << error.what() << ", with:\n" << input;
  }
}

/// An input, damaged up to four times; or the beginning of one input and the end of another.
std::string changed(const std::vector<Input>& inputs, Random& random) {
  std::string bytes = random.pick(inputs).bytes;
  if (random.one_in(8)) {
    const std::string& other = random.pick(inputs).bytes;
    bytes.resize(random.below(std::uint64_t{bytes.size() + 1}));
    bytes += other.substr(random.below(std::uint64_t{other.size() + 1}));
  }
  for (std::uint32_t n = random.below(5U); n > 0 && !bytes.empty(); --n) spoil(bytes, random);
  return bytes;
}

class Replay : public testing::TestWithParam<Target> {};

TEST_P(Replay, CorpusHasNoFindings) {
  const Target& target = GetParam();
  const std::vector<Input> inputs = corpus(target.name);
  EXPECT_GT(inputs.size(), 3U);
  for (const Input& input : inputs) EXPECT_TRUE(holds(target, input.bytes)) << input.name;
}

TEST_P(Replay, MutatedCorpusHasNoFindings) {
  const Target& target = GetParam();
  const std::vector<Input> inputs = corpus(target.name);
  ASSERT_FALSE(inputs.empty());
  // A rendezvous waits for its peer, so it gets fewer repetitions.
  const std::uint64_t usual = is_sanitized ? 400 : 2000;
  const std::uint64_t repeats = target.name == "rendezvous" ? 20 : usual;
  for (std::uint64_t seed = 1; seed <= repeats; ++seed) {
    Random random(seed);
    ASSERT_TRUE(holds(target, changed(inputs, random))) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Replay, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Targets, EveryCorpusFolderHasATarget) {
  for (const auto& entry : fs::directory_iterator(TUTTI_CORPUS_DIR)) {
    EXPECT_NO_THROW((void)target(entry.path().filename().string())) << entry.path();
  }
}

}  // namespace
}  // namespace tutti::test
