#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/generator.hpp>
#include <tutti/network/network.hpp>

/// The builders in this folder, one file each, listed in table.cpp; and what they are made of.
namespace tutti::generator {

[[nodiscard]] Network server(const Arguments& arguments);
[[nodiscard]] Network star(const Arguments& arguments);
[[nodiscard]] Network fat_tree(const Arguments& arguments);
[[nodiscard]] Network torus(const Arguments& arguments);
[[nodiscard]] Network dragonfly(const Arguments& arguments);
[[nodiscard]] Network ring(const Arguments& arguments);
[[nodiscard]] Network hypercube(const Arguments& arguments);
[[nodiscard]] Network full_mesh(const Arguments& arguments);
[[nodiscard]] Network multi_rail(const Arguments& arguments);

/// Throws invalid_argument if so many nodes or links are more than anybody means.
void check_size(std::uint64_t count);

/// Adds ranks "r0", "r1", … Requires: none yet.
void add_ranks(Network& network, std::uint32_t count);

/// Links each of the nodes to each other one: the links of the first, of the second, …
void link_all(Network& network, const std::vector<NodeId>& nodes, double bytes_per_second,
              double latency);

/// Joins the ranks, in order, to a torus. The first dimension varies fastest.
/// Requires: as many ranks as the dimensions ask for, and no links yet.
void wire_torus(Network& network, std::vector<std::uint32_t> dimensions, double bytes_per_second,
                double latency);

}  // namespace tutti::generator
