#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "peers/peer.hpp"

namespace peers {

/// Makes the call once on random numbers, into a poisoned output, and counts the wrong elements on
/// all ranks together; none for a call in place for which libraries place blocks differently.
/// Requires: the same seed on all ranks.
[[nodiscard]] std::optional<std::size_t> count_wrong(Peer& peer, const Call& call,
                                                     std::uint64_t seed);

/// Makes every call of for_each_case() that the library supports, and names those with a wrong
/// element on this rank, or that wrote behind the output or over the input. Returns how many there
/// are on all ranks together.
[[nodiscard]] std::size_t check_cases(Peer& peer);

}  // namespace peers
