#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/segments.hpp"
#include "algorithms/turn.hpp"

namespace tutti::broadcast {

/// From rank to rank, one after the other. Slow unless the data is cut into slices or segments.
/// Then every link is busy, and for long data no algorithm is faster.
Program chain(const Problem& problem, Rank self) {
  const std::uint32_t p = problem.ranks;
  const std::uint32_t v = from_root(problem, self);
  Program program(p - 1);
  if (v > 0) program.receive(v - 1, v - 1, Chunk{0});
  if (v + 1 < p) program.send(v, v + 1, Chunk{0});
  return pipelined(turn_ranks(program, problem), segments_of(problem));
}

}  // namespace tutti::broadcast
