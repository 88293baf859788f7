#pragma once

#include <string_view>

namespace tutti::test {

/// Sanitizers make tests many times slower, and find errors with fewer ranks, too.
inline constexpr std::string_view sanitizer = TUTTI_SANITIZER;
inline constexpr bool is_sanitized = !sanitizer.empty();

/// Makes fork() take the locks of AddressSanitizer's allocator, where its runtime does not.
/// Returns whether a child can then be forked while another thread allocates.
bool lock_allocator_around_forks();

/// False if a child that was forked while another thread allocated can wait forever, because the
/// sanitizer's allocator stays locked in it.
inline const bool can_fork_beside_threads = lock_allocator_around_forks();

}  // namespace tutti::test
