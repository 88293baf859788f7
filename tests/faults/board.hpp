#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <tutti/error.hpp>

namespace tutti::test {

/// The progress of a rank.
enum class Stage : std::uint32_t { meeting, calling, failed, shrinking, repeating, done };
[[nodiscard]] std::string_view name(Stage stage);

/// What a rank records: plain memory that outlives its process.
struct BoardLine {
  std::atomic<Stage> stage{Stage::meeting};
  // Nanoseconds of the clock that all processes share; 0 if it was not reached.
  std::atomic<std::int64_t> fault_at{0};
  std::atomic<std::int64_t> called_at{0};  ///< The last call.
  std::atomic<std::int64_t> failed_at{0};
  std::atomic<std::int64_t> recovered_at{0};
  std::atomic<int> code{-1};             ///< Of the error; -1 if there was none.
  std::atomic<std::uint32_t> blamed{0};  ///< The ranks of the verdict, one bit each.
  std::atomic<std::uint32_t> gone{0};    ///< Ranks not in the last communicator, one bit each.
  std::atomic<std::uint32_t> left{0};    ///< The size of the last communicator.
  std::atomic<std::int64_t> longest_pause_ns{0};   ///< Between two steps of a loop.
  std::atomic<std::int64_t> longest_shrink_ns{0};  ///< Of those in a loop.
  /// The outcome of each step of a loop, as a number that must be the same on all ranks.
  std::array<std::atomic<std::uint64_t>, 256> outcomes{};
  std::atomic<std::uint32_t> steps{0};  ///< The number of outcomes.
  std::array<char, 2048> verdict{};     ///< Its words.
  std::array<char, 1024> trouble{};     ///< Any other error.
};

/// Writes as much as fits.
template <std::size_t n>
void note(std::array<char, n>& to, std::string_view text) {
  const std::size_t length = text.copy(to.data(), n - 1);
  to[length] = '\0';
}

[[nodiscard]] std::int64_t now_ns();

/// A line for each rank, in memory that forked processes share.
class Board {
 public:
  static constexpr std::uint32_t most_ranks = 16;

  Board();
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  [[nodiscard]] BoardLine& operator[](std::uint32_t rank) { return lines_[rank]; }
  [[nodiscard]] const BoardLine& operator[](std::uint32_t rank) const { return lines_[rank]; }

 private:
  BoardLine* lines_;
};

}  // namespace tutti::test
