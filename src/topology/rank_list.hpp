#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/rank.hpp>

namespace tutti {

/// Parses a list of different ranks: "0,2,3,1", the names of ranks of a network, "A,C,D,B", or
/// file:PATH for a file that contains such a list, with commas, blanks or line breaks between the
/// ranks. Throws invalid_argument for unknown or repeated ranks, with `what` ("--place") in front.
[[nodiscard]] TUTTI_API std::vector<Rank> parse_rank_list(std::string_view text,
                                                          const Network& network,
                                                          const std::string& what);
/// The same without a network: numbers below `ranks`.
[[nodiscard]] TUTTI_API std::vector<Rank> parse_rank_list(std::string_view text,
                                                          std::uint32_t ranks,
                                                          const std::string& what);

}  // namespace tutti
