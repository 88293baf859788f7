#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tutti {

/// Fills the memory with random bytes of the kernel, which are fit for keys. Throws internal if it
/// has none.
void fill_at_random(std::span<std::byte> to);

/// So many random bytes, in hexadecimal.
[[nodiscard]] std::string random_hex(std::size_t bytes);

}  // namespace tutti
