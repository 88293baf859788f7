#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "peers/peer.hpp"

namespace peers {

/// Makes the call once on random numbers, into a poisoned output, and counts the wrong elements on
/// all ranks together; none for a call in place for which libraries place blocks differently.
///
/// Numbers are integers that are small enough that no order of adding rounds. They repeat after a
/// prime number of elements, so that a check is as cheap as a memory comparison.
/// Requires: no v-variant; the same seed on all ranks.
[[nodiscard]] std::optional<std::size_t> count_wrong(Peer& peer, const Call& call,
                                                     std::uint64_t seed);

}  // namespace peers
