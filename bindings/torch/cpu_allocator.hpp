#pragma once

#include <cstddef>

namespace tutti_torch {

/// Lets torch take the memory of CPU tensors of at least `smallest` bytes from tuttiMemAlloc's
/// memory, where the other ranks of this host can read and write it. Smaller ones, and all if there
/// is no shared memory, are served by the allocator that torch had before.
void share_tensors_from(std::size_t smallest);
/// Later tensors are served by the former allocator. Those that exist keep their memory.
void stop_sharing_tensors();

}  // namespace tutti_torch
