#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// Unsigned, since no value is negative, and since Clang's overflow check of signed products of
/// this width calls a function that some runtimes lack.
__extension__ using Wide = unsigned __int128;

/// Maximum flow between two nodes, by Dinic's algorithm (1970).
class MaxFlow {
 public:
  explicit MaxFlow(std::uint32_t nodes) : first_(nodes, none) {}

  /// Adds an arc and returns its index.
  std::uint32_t add_arc(std::uint32_t from, std::uint32_t to);
  /// Sets the capacity of an arc and clears its flow.
  void set_capacity(std::uint32_t arc, Wide capacity) {
    const std::size_t half = std::size_t{2} * arc;
    left_[half] = capacity;
    left_[half + 1] = 0;
  }

  /// Set the capacity of every arc again before another run.
  [[nodiscard]] Wide run(std::uint32_t source, std::uint32_t sink);
  /// After a run: the flow on an arc.
  [[nodiscard]] Wide flow(std::uint32_t arc) const { return left_[std::size_t{2} * arc + 1]; }
  /// After a run: true if the node is on the source side of a minimum cut.
  [[nodiscard]] bool on_source_side(std::uint32_t node) const { return level_[node] != unseen; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t unseen = UINT32_MAX;

  bool find_levels(std::uint32_t source, std::uint32_t sink);
  Wide augment(std::uint32_t source, std::uint32_t sink);

  std::vector<std::uint32_t> first_;   // First half-arc of each node.
  std::vector<std::uint32_t> next_;    // Next half-arc of the same node.
  std::vector<std::uint32_t> target_;  // Target of each half-arc; its reverse is the index xor 1.
  std::vector<Wide> left_;             // Residual capacity of each half-arc.
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> current_;
  std::vector<std::uint32_t> open_;
};

}  // namespace tutti
