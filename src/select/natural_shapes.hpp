#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>
#include <tutti/shape.hpp>

namespace tutti {

/// The shapes in which the ranks of a network are arranged, the finest first; empty if there is
/// none. Whatever nodes are called or declared to be, a shape is derived from
/// - the grids and tori whose neighbours are linked directly, and
/// - the groups of consecutive ranks that reach each other over more bandwidth, fewer links or less
///   latency than the next group: ranks per host, hosts per pod, and so on. Neighbouring levels are
///   also merged, so that an algorithm of two dimensions finds its shape.
///
/// `places[r]` is the rank of the network on which rank r runs; empty: rank r.
[[nodiscard]] std::vector<Shape> natural_shapes(const Network& network,
                                                std::span<const Rank> places = {});

/// Every shape of `ranks` ranks with two dimensions above 1: 12 → 2x6, 3x4, 4x3, 6x2.
[[nodiscard]] std::vector<Shape> shapes_of_two(std::uint32_t ranks);

}  // namespace tutti
