#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "peers/peer.hpp"

namespace peers {

/// Makes the call once on random numbers, into a poisoned output, and counts on all ranks together
/// the elements that are wrong; none for a call in place whose blocks each library has elsewhere.
///
/// Numbers are whole and so small that no order of adding them up rounds. They repeat after a prime
/// number of elements, so that to check many costs no more than to compare memory.
/// Requires: no collective with a v; all ranks give the same seed.
[[nodiscard]] std::optional<std::size_t> count_wrong(Peer& peer, const Call& call,
                                                     std::uint64_t seed);

}  // namespace peers
