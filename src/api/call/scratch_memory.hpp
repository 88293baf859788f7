#pragma once

#include <cstddef>
#include <memory>

namespace tutti {

/// Memory that others can read, so that they need no copy of it; if there is none, what there is.
/// On a page's boundary.
[[nodiscard]] std::shared_ptr<std::byte> scratch_memory(std::size_t bytes);

}  // namespace tutti
