#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <tutti/schedule/algebra.hpp>

namespace tutti {

/// A node of the binary tree over 0 … size−1 whose in-order traversal is 0, 1, 2, …
///
/// Every even index is a leaf. So a second tree that shifts each rank by an odd distance makes
/// inner nodes only of leaves: see second_tree().
struct InorderNode {
  std::optional<Rank> parent;
  std::array<Rank, 2> children{};
  std::size_t child_count = 0;
  std::uint32_t depth = 0;
};

/// The number of levels below the root.
[[nodiscard]] std::uint32_t inorder_height(std::uint32_t size);
[[nodiscard]] InorderNode inorder_node(std::uint32_t size, Rank index);
[[nodiscard]] Rank inorder_root(std::uint32_t size);

/// Maps indices of the second tree to ranks: mirrored if the size is even, shifted by one if it is
/// odd (Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", 2009). Every rank is then an inner node of at most one of the two trees.
[[nodiscard]] RankMap second_tree(std::uint32_t size);
/// The index of a rank in the second tree.
[[nodiscard]] Rank index_in_second_tree(std::uint32_t size, Rank rank);

/// Sends chunk 0 from the root of the tree down to its leaves, one level per round.
[[nodiscard]] Program inorder_broadcast(std::uint32_t size, Rank index);

}  // namespace tutti
