#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>

namespace tutti::cli {

/// Where ranks run: "order", "random", "random:7" with a seed, a list of ranks of the network by
/// number or name ("0,4,1", "A,C,B"), or file:PATH with such a list. Empty for "order", and if the
/// network has too few places, which the simulator then reports. Throws invalid_argument unless a
/// list has a place for each rank.
[[nodiscard]] std::vector<Rank> parse_places(const std::string& text, std::uint32_t ranks,
                                             const Network& network);

}  // namespace tutti::cli
