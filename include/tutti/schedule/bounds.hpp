#pragma once

#include <cstdint>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// Lower bounds that hold for every algorithm. Fractions of bytes are rounded up.
struct Bounds {
  /// For one message in and one out per rank and round: the data that a rank has heard of at most
  /// doubles in a round.
  std::uint32_t rounds = 0;
  std::uint64_t most_sent = 0;      ///< Some rank must send at least this much.
  std::uint64_t most_received = 0;  ///< Some rank must receive at least this much.
  std::uint64_t bytes = 0;          ///< All ranks together must send at least this much.
  std::uint64_t reduced = 0;        ///< All ranks together must add at least this much.
};

/// The bounds for buffers of `n` bytes, as for even_layout(). The allreduce bound is from Patarasuk
/// and Yuan, "Bandwidth optimal all-reduce algorithms", 2009: some rank sends 2(p−1)/p·n.
[[nodiscard]] TUTTI_API Bounds bounds(Collective collective, std::uint32_t ranks, std::uint64_t n);

}  // namespace tutti
