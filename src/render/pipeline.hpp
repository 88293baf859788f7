#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tutti::render {

/// A textbook example of a pipeline, f(x) = x² + 5 in two stages, counted: rank 0 squares a
/// number and sends the square to rank 1, which adds 5. Each takes a unit of time.
struct Pipeline {
  static constexpr std::size_t stages = 2;

  /// The number, by its index, that each stage works on in one unit of time; none if it waits.
  struct Unit {
    std::optional<std::size_t> squared{};
    std::optional<std::size_t> added{};
  };

  std::vector<Unit> units{};   ///< m + p − 1 of them.
  std::size_t one_by_one = 0;  ///< Units if each number passes both stages before the next: m·p.
  std::size_t messages = 0;    ///< From stage 0 to stage 1.
  std::size_t idle = 0;        ///< Units of all ranks in which they wait.
  std::vector<double> results{};  ///< f(x) of every number.
};

[[nodiscard]] Pipeline run_pipeline(const std::vector<double>& numbers);

}  // namespace tutti::render
