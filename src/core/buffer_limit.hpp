#pragma once

#include <cstdint>

namespace tutti {

/// No buffer is longer: no processor's address space is. Longer ones are negative or overflowed
/// numbers.
inline constexpr std::uint64_t most_buffer_bytes = std::uint64_t{1} << 56;

}  // namespace tutti
