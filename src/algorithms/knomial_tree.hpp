#pragma once

#include <cstdint>

#include <tutti/rank.hpp>

namespace tutti {

/// A node of the k-nomial tree over 0 … size−1 with root 0. Ranks are numbers in base k. The parent
/// of a rank has a 0 in place of its lowest digit that is not 0. With k = 2 this is the binomial
/// tree. Every subtree is a range of consecutive ranks.
struct KnomialNode {
  std::uint32_t rounds;     ///< ⌈log_k size⌉
  std::uint32_t level = 0;  ///< The round in which it receives from its parent; 0 for the root.
  Rank parent{};
  std::uint64_t span;  ///< Its subtree is rank … rank + span − 1, as far as there are ranks.
};

[[nodiscard]] inline KnomialNode knomial_node(std::uint32_t size, std::uint32_t k, Rank rank) {
  KnomialNode node{.rounds = 0, .span = 1};
  std::uint64_t all = 1;
  for (; all < size; all *= k) ++node.rounds;
  if (rank == 0) {
    node.span = all;
    return node;
  }
  node.level = node.rounds - 1;
  for (; rank / node.span % k == 0; node.span *= k) --node.level;
  const auto span = static_cast<std::uint32_t>(node.span);
  node.parent = rank - rank / span % k * span;
  return node;
}

/// Calls f(round, distance, count) for each round in which the rank sends to the children rank +
/// distance, rank + 2·distance, …, `count` of them.
template <class F>
void for_each_knomial_round(std::uint32_t size, std::uint32_t k, Rank rank, F f) {
  const KnomialNode node = knomial_node(size, k, rank);
  std::uint32_t round = rank == 0 ? 0 : node.level + 1;
  for (std::uint64_t distance = node.span / k; distance > 0; distance /= k, ++round) {
    const std::uint64_t above = (size - 1 - rank) / distance;
    const auto children = static_cast<std::uint32_t>(above < k - 1 ? above : k - 1);
    if (children > 0) f(round, static_cast<std::uint32_t>(distance), children);
  }
}

}  // namespace tutti
