#pragma once

#include <cstddef>
#include <memory>

namespace tutti {

/// Allocates page-aligned memory from the shared heap, so that other ranks can read it without a
/// copy. Falls back to private memory.
[[nodiscard]] std::shared_ptr<std::byte> scratch_memory(std::size_t bytes);

}  // namespace tutti
