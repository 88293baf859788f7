#pragma once

#include <string_view>

namespace tutti::test {

/// Sanitizers make everything many times slower, and find what there is with fewer ranks too.
inline constexpr std::string_view sanitizer = TUTTI_SANITIZER;
inline constexpr bool is_sanitized = !sanitizer.empty();

}  // namespace tutti::test
