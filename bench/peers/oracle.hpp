#pragma once

#include <cstddef>
#include <string>

#include "peers/peer.hpp"

namespace peers {

/// Runs every case that the library supports and writes a line for each rank that ends with
/// anything, cases in their order, ranks in theirs. On all ranks together; rank 0 writes the file,
/// and the others leave theirs beside it for a while. Returns how many calls of this rank wrote
/// where they must not: behind the output, or over an input that is not in place.
[[nodiscard]] std::size_t write_oracle(Peer& peer, const std::string& path);

}  // namespace peers
