#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include <tutti/communicator.hpp>

namespace tutti::test {

/// What a process of the training records, in memory that outlives it.
struct TraineeLine {
  std::atomic<std::uint64_t> step{0};
  std::atomic<std::int64_t> longest_pause_ns{0};
  std::atomic<double> error{0};
  std::atomic<bool> is_in{false};  ///< It has become a member.
  std::atomic<bool> has_finished{false};
  std::array<char, 1024> trouble{};  ///< The error; empty if none.
};

/// The address for joining processes, and the shared records.
struct TrainingPlace {
  std::string door{};
  const std::atomic<bool>& is_over;
};

/// Trains until the end. The first members pass their communicator.
void train(Communicator communicator, bool is_new, const TrainingPlace& place, TraineeLine& line);

}  // namespace tutti::test
