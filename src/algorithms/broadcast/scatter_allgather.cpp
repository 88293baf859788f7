#include "algorithms/allgather/allgather.hpp"
#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/scatter/scatter.hpp"
#include "algorithms/turn.hpp"

namespace tutti::broadcast {

/// The root scatters the data, and the ranks allgather the pieces in a ring: no rank sends more
/// than about twice the data, however many ranks there are (van de Geijn).
Program scatter_allgather(const Problem& problem, Rank self) {
  return then(scatter::binomial(problem, self), allgather::ring(problem, self));
}

}  // namespace tutti::broadcast
