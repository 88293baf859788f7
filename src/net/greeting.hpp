#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// The greeting of a rank in the handshake: "tutti tcp 1 <group> <rank>".
[[nodiscard]] std::string tcp_greeting(std::string_view group, std::uint32_t rank);

/// The rank in a greeting; none if it names another group or another protocol.
[[nodiscard]] std::optional<std::uint32_t> rank_that_greets(std::string_view greeting,
                                                            std::string_view group);

}  // namespace tutti
