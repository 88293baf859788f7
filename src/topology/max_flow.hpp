#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// Nothing here is ever negative; and Clang checks signed products of this width by a function that
/// is not in every runtime.
__extension__ using Wide = unsigned __int128;

/// The most that can flow between two nodes, by the algorithm of Dinic (1970).
class MaxFlow {
 public:
  explicit MaxFlow(std::uint32_t nodes) : first_(nodes, none) {}

  /// Adds an arc and returns its number.
  std::uint32_t add_arc(std::uint32_t from, std::uint32_t to);
  /// Gives an arc its capacity and takes its flow away.
  void set_capacity(std::uint32_t arc, Wide capacity) {
    const std::size_t half = std::size_t{2} * arc;
    left_[half] = capacity;
    left_[half + 1] = 0;
  }

  /// Every arc's capacity is to be set anew before another run.
  [[nodiscard]] Wide run(std::uint32_t source, std::uint32_t sink);
  /// After a run: whether a node is on the source's side of a smallest cut.
  [[nodiscard]] bool on_source_side(std::uint32_t node) const { return level_[node] != unseen; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t unseen = UINT32_MAX;

  bool find_levels(std::uint32_t source, std::uint32_t sink);
  Wide augment(std::uint32_t source, std::uint32_t sink);

  std::vector<std::uint32_t> first_;   // Of each node: its first half-arc.
  std::vector<std::uint32_t> next_;    // Of each half-arc: the next of the same node.
  std::vector<std::uint32_t> target_;  // Of each half-arc; its partner is the number xor 1.
  std::vector<Wide> left_;             // What still fits through each half-arc.
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> current_;
  std::vector<std::uint32_t> open_;
};

}  // namespace tutti
