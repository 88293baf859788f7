#pragma once

#include <string_view>

namespace tutti::test {

/// Sanitizers make tests many times slower, and find errors with fewer ranks, too.
inline constexpr std::string_view sanitizer = TUTTI_SANITIZER;
inline constexpr bool is_sanitized = !sanitizer.empty();

}  // namespace tutti::test
