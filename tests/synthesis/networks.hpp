#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <tutti/network/network.hpp>

#include "support/random.hpp"

namespace tutti::test {

/// Two boxes of eight A100s as in ForestColl (Zhao et al., 2024): 300 GB/s to the switch of the
/// box, and a NIC of 25 GB/s for each GPU.
inline Network two_a100_boxes() {
  Network network{.name = "two A100 boxes"};
  const NodeId outside = network.add("IB", NodeKind::switch_);
  for (std::uint32_t box = 0; box < 2; ++box) {
    const NodeId inside = network.add("NVSwitch " + std::to_string(box), NodeKind::switch_);
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
      const NodeId rank =
          network.add(std::to_string(box) + "." + std::to_string(gpu), NodeKind::rank);
      network.join(rank, inside, 300e9, 0);
      network.join(rank, outside, 25e9, 0);
    }
  }
  return network;
}

/// The NVLinks of a DGX-1 with V100s, six of 25 GB/s at each GPU; some pairs have two.
inline Network dgx1() {
  Network network{.name = "DGX-1"};
  for (std::uint32_t r = 0; r < 8; ++r) network.add(std::to_string(r), NodeKind::rank);
  struct Pair {
    std::uint32_t a, b, links;
  };
  constexpr std::array pairs{Pair{0, 1, 1}, Pair{0, 2, 1}, Pair{0, 3, 2}, Pair{0, 4, 2},
                             Pair{1, 2, 2}, Pair{1, 3, 1}, Pair{1, 5, 2}, Pair{2, 3, 2},
                             Pair{2, 6, 1}, Pair{3, 7, 1}, Pair{4, 5, 1}, Pair{4, 6, 1},
                             Pair{4, 7, 2}, Pair{5, 6, 2}, Pair{5, 7, 1}, Pair{6, 7, 2}};
  for (const Pair& each : pairs) {
    network.join(network.ranks[each.a], network.ranks[each.b], 25e9 * each.links, 0);
  }
  network.ranks_forward = true;
  return network;
}

}  // namespace tutti::test
