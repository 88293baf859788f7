#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/generator.hpp>
#include <tutti/network/network.hpp>

/// The generators in this folder, one file each, listed in table.cpp, and the functions they share.
namespace tutti::generator {

[[nodiscard]] Network server(const Arguments& arguments);
[[nodiscard]] Network star(const Arguments& arguments);
[[nodiscard]] Network fat_tree(const Arguments& arguments);
[[nodiscard]] Network torus(const Arguments& arguments);
[[nodiscard]] Network grid(const Arguments& arguments);
[[nodiscard]] Network line(const Arguments& arguments);
[[nodiscard]] Network dragonfly(const Arguments& arguments);
[[nodiscard]] Network ring(const Arguments& arguments);
[[nodiscard]] Network hypercube(const Arguments& arguments);
[[nodiscard]] Network full_mesh(const Arguments& arguments);
[[nodiscard]] Network multi_rail(const Arguments& arguments);

/// Throws invalid_argument if `count` nodes or links are too many.
void check_size(std::uint64_t count);

/// Adds ranks "r0", "r1", …. Requires: the network has no ranks yet.
void add_ranks(Network& network, std::uint32_t count);

/// Links each node to every other one: first the links of the first node, then of the second, ….
void link_all(Network& network, const std::vector<NodeId>& nodes, double bytes_per_second,
              double latency);

/// Joins the ranks, in order, into a torus, or into a grid with borders unless it `wraps`. The
/// first dimension varies fastest. Requires: as many ranks as the product of the dimensions, and no
/// links yet.
void wire_torus(Network& network, std::vector<std::uint32_t> dimensions, double bytes_per_second,
                double latency, bool wraps = true);

}  // namespace tutti::generator
