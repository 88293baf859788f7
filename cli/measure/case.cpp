#include "cli/measure/case.hpp"

#include <algorithm>

namespace tutti::measure {
namespace {

/// True if the data is one piece, false if it is one block per rank.
bool is_whole(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce ||
         collective == Collective::allreduce;
}

}  // namespace

std::string Case::method_name() const {
  if (schedule) return schedule->name();
  return algorithm.empty() ? "auto" : algorithm;
}

Case case_of(const Method& method) {
  Case made{.collective = method.collective()};
  if (method.algorithm() != nullptr) made.algorithm = method.name();
  if (method.schedule() != nullptr) {
    made.schedule = *method.schedule();
    made.root = made.schedule->contract().root;
  }
  return made;
}

std::uint64_t count_for(Collective collective, DType dtype, std::uint64_t bytes,
                        std::uint32_t ranks) {
  if (collective == Collective::barrier) return 0;
  const std::uint64_t blocks = is_whole(collective) ? 1 : ranks;
  return std::max<std::uint64_t>(1, bytes / size_of(dtype) / blocks);
}

std::uint64_t larger_bytes(const Case& what, std::uint32_t ranks) {
  const std::uint64_t blocks = is_whole(what.collective) ? 1 : ranks;
  return what.count * size_of(what.dtype) * blocks;
}

double bus_factor(Collective collective, std::uint32_t ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::broadcast:
    case Collective::reduce:
      return 1;
    case Collective::allreduce:
      return 2 * others;
    case Collective::scatter:
    case Collective::gather:
    case Collective::allgather:
    case Collective::reduce_scatter:
    case Collective::alltoall:
      return others;
    case Collective::barrier:
      break;
  }
  return 0;
}

std::string_view op_name(const Case& what) {
  const bool combines = is_reduction(what.collective) && what.collective != Collective::barrier;
  return combines ? name(what.op) : "none";
}

}  // namespace tutti::measure
