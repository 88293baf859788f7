#pragma once

#include <cstdint>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// What no algorithm can go below. Fractions of bytes are rounded up.
struct Bounds {
  /// With one message in and one out per rank and round: what a rank knows of at most doubles.
  std::uint32_t rounds = 0;
  std::uint64_t most_sent = 0;      ///< Some rank must send this much
  std::uint64_t most_received = 0;  ///< and some rank must receive this much.
  std::uint64_t bytes = 0;          ///< All ranks together must send this much.
  std::uint64_t reduced = 0;        ///< All ranks together must add this much.
};

/// The bounds for buffers of `n` bytes, as for even_layout(). That of allreduce is Patarasuk and
/// Yuan's, "Bandwidth optimal all-reduce algorithms", 2009: 2(p−1)/p·n sent by some rank.
[[nodiscard]] TUTTI_API Bounds bounds(Collective collective, std::uint32_t ranks, std::uint64_t n);

}  // namespace tutti
