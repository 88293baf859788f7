#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>

namespace tutti {

/// The place of each rank if the ranks of one leaf follow each other. Leaves are in the order of
/// their lowest ranks. The leaf of a rank is the first node on its way up that several ranks share
/// and from which several links lead up; so NICs and switches with one uplink belong to the leaf
/// above them. Of a rank with several uplinks, it is the set of these nodes: ranks that are linked
/// to the same two switches share a leaf.
///
/// D-mod-K (see Fork) spreads the ranks of a leaf over its uplinks only if they are numbered
/// consecutively. If the k-th ranks of all hosts share a leaf, their own numbers may differ by a
/// multiple of the number of uplinks.
[[nodiscard]] std::vector<std::uint32_t> leaf_order(const Network& network);

}  // namespace tutti
