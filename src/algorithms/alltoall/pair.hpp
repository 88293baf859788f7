#pragma once

#include <tutti/schedule/chunk.hpp>
#include <tutti/schedule/problem.hpp>

namespace tutti::alltoall {

/// The chunk from rank `from` to rank `to`.
[[nodiscard]] inline Chunk pair(const Problem& problem, std::uint32_t from, std::uint32_t to) {
  return Chunk{std::uint64_t{from} * problem.ranks + to};
}

}  // namespace tutti::alltoall
