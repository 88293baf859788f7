#pragma once

#include <span>
#include <string_view>

#include <tutti/export.hpp>

namespace tutti {

/// What a group of ranks can do together.
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

/// Every collective, in the order in which people list them.
[[nodiscard]] TUTTI_API std::span<const Collective> collectives();

/// The name as it is written everywhere: "reduce_scatter".
[[nodiscard]] TUTTI_API std::string_view name(Collective collective);

/// The inverse of name(). Throws invalid_argument that suggests the nearest name.
[[nodiscard]] TUTTI_API Collective parse_collective(std::string_view text);

/// Whether one rank is special: broadcast, scatter, gather, reduce.
[[nodiscard]] TUTTI_API bool has_root(Collective collective);

/// Whether contributions are combined: reduce, allreduce, reduce_scatter, barrier.
[[nodiscard]] TUTTI_API bool is_reduction(Collective collective);

/// Whether the data is one block per rank (scatter, gather, allgather, reduce_scatter), so that a
/// v-variant with a count per rank exists.
[[nodiscard]] TUTTI_API bool has_block_per_rank(Collective collective);

/// The collective that is this one run backwards: broadcast ↔ reduce, scatter ↔ gather,
/// allgather ↔ reduce_scatter. Throws unsupported for the others.
[[nodiscard]] TUTTI_API Collective dual(Collective collective);

}  // namespace tutti
