#pragma once

#include <cstddef>
#include <string>

#include "peers/peer.hpp"

namespace peers {

/// Runs every case that the library supports and writes a line for each rank with an output, in
/// order of cases, then of ranks. Called on all ranks together; rank 0 writes the file, and the
/// others write temporary files beside it. Returns how many calls of this rank wrote behind the
/// output, or over an input that is not in place.
[[nodiscard]] std::size_t write_oracle(Peer& peer, const std::string& path);

}  // namespace peers
