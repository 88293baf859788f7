#pragma once

#include <string_view>

namespace tutti::test {

/// Sanitizers make tests many times slower, and find errors with fewer ranks, too.
inline constexpr std::string_view sanitizer = TUTTI_SANITIZER;
inline constexpr bool is_sanitized = !sanitizer.empty();

/// False if a child that was forked while another thread allocated can wait forever: the
/// sanitizer's allocator stays locked in it. AddressSanitizer takes that lock around fork() since
/// Clang 17.
#if defined(__clang_major__) && __clang_major__ >= 17
inline constexpr bool can_fork_beside_threads = sanitizer != "thread";
#else
inline constexpr bool can_fork_beside_threads = !is_sanitized;
#endif

}  // namespace tutti::test
