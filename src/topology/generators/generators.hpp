#pragma once

#include <tutti/generator.hpp>
#include <tutti/network.hpp>

/// The builders in this folder, one file each; table.cpp lists them.
namespace tutti::generator {

[[nodiscard]] Network star(const Arguments& arguments);
[[nodiscard]] Network torus(const Arguments& arguments);

/// Joins ranks, in order, to a torus. The first dimension varies fastest.
/// Requires: as many ranks as the dimensions ask for, and no links yet.
void wire_torus(Network& network, std::vector<std::uint32_t> dimensions, double bytes_per_second,
                double latency);

/// Adds ranks "r0", "r1", … Requires: none yet.
void add_ranks(Network& network, std::uint32_t count);

}  // namespace tutti::generator
