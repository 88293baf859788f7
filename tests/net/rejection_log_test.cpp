#include "net/rejection_log.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;

TEST(RejectionLog, LogsOneLinePerSourceAndSecond) {
  std::vector<std::string> lines;
  RejectionLog log(Rank{3}, [&](const std::string& line) { lines.push_back(line); });
  const auto now = Clock::now();
  for (int i = 0; i < 100; ++i) log.note_rejection("10.0.0.1", "why", now + i * 1ms);
  log.note_rejection("10.0.0.2", "why", now + 100ms);
  EXPECT_EQ(lines.size(), 2U);
  log.note_rejection("10.0.0.1", "why not", now + 1001ms);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2],
            "tutti: rank 3 rejected a connection from 10.0.0.1 (and 99 before it): why not\n");
}

TEST(RejectionLog, ReplacesControlCharacters) {
  std::vector<std::string> lines;
  RejectionLog log(Rank{3}, [&](const std::string& line) { lines.push_back(line); });
  log.note_rejection("10.0.0.1", "it said \"\x1b[2J\ntutti: all is well\"", Clock::now());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0],
            "tutti: rank 3 rejected a connection from 10.0.0.1: it said \"?[2J?tutti: all is "
            "well\"\n");
}

TEST(RejectionLog, BoundsTheNumberOfSources) {
  std::size_t lines = 0;
  RejectionLog log(Rank{3}, [&](const std::string&) { ++lines; });
  const auto now = Clock::now();
  for (int i = 0; i < 5000; ++i) log.note_rejection(std::to_string(i), "why", now);
  EXPECT_EQ(lines, 1024U);
  log.note_rejection("one more", "why", now + 2s);
  EXPECT_EQ(lines, 1025U);
}

}  // namespace
}  // namespace tutti
