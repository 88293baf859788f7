#include "algorithms/inorder_tree.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace tutti {

std::uint32_t inorder_height(std::uint32_t size) {
  return static_cast<std::uint32_t>(std::bit_width(size)) - 1;
}

Rank inorder_root(std::uint32_t size) { return std::bit_floor(size) - 1; }

InorderNode inorder_node(std::uint32_t size, Rank index) {
  // Positions count from 1, so that the lowest set bit of a position gives its level: odd ones are
  // leaves.
  const std::uint32_t target = index + 1;
  std::uint32_t at = std::bit_floor(size);
  std::uint32_t reach =
      at / 2;  // Distance of the children, unless the right subtree is incomplete.
  const auto right_of = [&] {
    const std::uint32_t below = std::min(size - at, 2 * reach - 1);
    return reach == 0 || below == 0 ? 0 : at + std::bit_floor(below);
  };

  InorderNode node;
  while (at != target) {
    node.parent = at - 1;
    ++node.depth;
    if (target < at) {
      at -= reach;
      reach /= 2;
    } else {
      const std::uint32_t next = right_of();
      reach = (next - at) / 2;
      at = next;
    }
  }
  if (reach > 0) node.children.at(node.child_count++) = at - reach - 1;
  if (right_of() > 0) node.children.at(node.child_count++) = right_of() - 1;
  return node;
}

RankMap second_tree(std::uint32_t size) {
  return {.first = size - 1, .stride = size % 2 == 0 ? -1 : 1, .modulus = size};
}

Rank index_in_second_tree(std::uint32_t size, Rank rank) {
  if (size % 2 == 0) return size - 1 - rank;
  return (rank + 1) % size;
}

Program inorder_broadcast(std::uint32_t size, Rank index) {
  const InorderNode node = inorder_node(size, index);
  Program program(inorder_height(size));
  if (node.parent) program.receive(node.depth - 1, *node.parent, Chunk{0});
  if (node.child_count > 0) {
    const ChunkRange all(Chunk{0});
    program.send(node.depth, std::span(node.children).first(node.child_count), {&all, 1});
  }
  return program;
}

}  // namespace tutti
