#pragma once

#include <cstddef>

namespace tutti {

/// Adds two operands of f8e4m3 or f8e5m2 like Fold, by arithmetic in f16. Returns false, and does
/// nothing, if this processor has none.
[[nodiscard]] bool add_e4m3(void* out, void* copy, const void* a, const void* b, std::size_t count);
[[nodiscard]] bool add_e5m2(void* out, void* copy, const void* a, const void* b, std::size_t count);

}  // namespace tutti
