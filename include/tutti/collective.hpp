#pragma once

#include <span>
#include <string_view>

#include <tutti/export.hpp>

namespace tutti {

/// A collective operation of a group of ranks.
enum class Collective {
  broadcast,
  scatter,
  gather,
  allgather,
  reduce,
  allreduce,
  reduce_scatter,
  alltoall,
  barrier,
};

/// Every collective, in the usual order of listing.
[[nodiscard]] TUTTI_API std::span<const Collective> collectives();

/// The name used in commands, files and messages: "reduce_scatter".
[[nodiscard]] TUTTI_API std::string_view name(Collective collective);

/// The inverse of name(). Throws invalid_argument and suggests the nearest name.
[[nodiscard]] TUTTI_API Collective parse_collective(std::string_view text);

/// True if one rank is the root: broadcast, scatter, gather, reduce.
[[nodiscard]] TUTTI_API bool has_root(Collective collective);

/// True if contributions are combined: reduce, allreduce, reduce_scatter, barrier.
[[nodiscard]] TUTTI_API bool is_reduction(Collective collective);

/// True if the data is one block per rank (scatter, gather, allgather, reduce_scatter), so that a
/// v-variant with a count per rank exists.
[[nodiscard]] TUTTI_API bool has_block_per_rank(Collective collective);

/// The collective that results from running this one backwards: broadcast ↔ reduce, scatter ↔
/// gather, allgather ↔ reduce_scatter. Throws unsupported for the others.
[[nodiscard]] TUTTI_API Collective dual(Collective collective);

}  // namespace tutti
