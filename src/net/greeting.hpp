#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// What ranks of a group say who they are when they connect: "tutti tcp 1 <group> <rank>".
[[nodiscard]] std::string tcp_greeting(std::string_view group, std::uint32_t rank);

/// The rank that greets; none if it is of another group, or speaks another protocol.
[[nodiscard]] std::optional<std::uint32_t> rank_that_greets(std::string_view greeting,
                                                            std::string_view group);

}  // namespace tutti
