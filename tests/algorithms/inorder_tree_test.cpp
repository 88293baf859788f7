#include "algorithms/inorder_tree.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// The in-order traversal of the subtree at `index`.
void walk(std::uint32_t size, Rank index, std::vector<std::uint32_t>& visited) {
  const InorderNode node = inorder_node(size, index);
  std::size_t k = 0;
  if (k < node.child_count && node.children.at(k) < index)
    walk(size, node.children.at(k++), visited);
  visited.push_back(index);
  if (k < node.child_count) walk(size, node.children.at(k), visited);
}

TEST(InorderTree, TraversalIsInRankOrder) {
  for (std::uint32_t size = 1; size <= 130; ++size) {
    std::vector<std::uint32_t> visited;
    walk(size, inorder_root(size), visited);
    ASSERT_EQ(visited.size(), size);
    for (std::uint32_t i = 0; i < size; ++i) EXPECT_EQ(visited[i], i) << "size " << size;
  }
}

TEST(InorderTree, ParentsMatchChildren) {
  for (std::uint32_t size = 1; size <= 130; ++size) {
    for (std::uint32_t i = 0; i < size; ++i) {
      const InorderNode node = inorder_node(size, i);
      EXPECT_EQ(node.parent.has_value(), i != inorder_root(size));
      for (std::size_t k = 0; k < node.child_count; ++k) {
        const InorderNode child = inorder_node(size, node.children.at(k));
        EXPECT_EQ(child.parent, i);
        EXPECT_EQ(child.depth, node.depth + 1);
      }
      EXPECT_LE(node.depth, inorder_height(size));
    }
  }
}

TEST(InorderTree, EvenIndicesAreLeaves) {
  for (std::uint32_t size = 2; size <= 130; ++size) {
    for (std::uint32_t i = 0; i < size; i += 2) {
      EXPECT_EQ(inorder_node(size, i).child_count, 0) << "size " << size << " index " << i;
    }
  }
}

TEST(InorderTree, SecondTreeIndexInvertsItsMap) {
  for (std::uint32_t size = 1; size <= 130; ++size) {
    const RankMap map = second_tree(size);
    for (std::uint32_t i = 0; i < size; ++i) {
      EXPECT_EQ(index_in_second_tree(size, map(i)), i) << "size " << size;
    }
  }
}

}  // namespace
}  // namespace tutti
