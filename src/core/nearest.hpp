#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tutti/export.hpp>

namespace tutti {

/// The candidate with the fewest edits (insert, delete, replace, swap of neighbours) from `text`;
/// empty if none is close.
[[nodiscard]] TUTTI_API std::string_view nearest(std::string_view text,
                                                 std::span<const std::string_view> candidates);

/// " Did you mean 'ring'?" or an empty text, ready to append to an error message.
[[nodiscard]] TUTTI_API std::string did_you_mean(std::string_view text,
                                                 std::span<const std::string_view> candidates);

}  // namespace tutti
