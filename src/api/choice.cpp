#include "api/choice.hpp"

#include <string_view>

namespace tutti {
namespace {

constexpr std::uint64_t kib = 1024;

/// Every time a rank must wait, others have to be run on its core: what counts is how seldom that
/// is.
std::string_view choose_crowded_allreduce(const ChoiceQuestion& ask) {
  const bool few = ask.ranks <= 4;
  if (!few && ask.bytes <= 512) return "allreduce/mesh";
  return ask.bytes <= (few ? 128 * kib : 512 * kib) ? "allreduce/root" : "allreduce/mesh_two_shot";
}

std::string_view choose_in_memory(const ChoiceQuestion& ask) {
  switch (ask.collective) {
    case Collective::broadcast:
      return "broadcast/flat";
    case Collective::scatter:
      return "scatter/flat";
    case Collective::gather:
      return "gather/flat";
    case Collective::allgather:
      return "allgather/mesh";
    case Collective::reduce:
      return "reduce/flat";
    case Collective::allreduce:
      return ask.reach == Reach::crowded_memory                    ? choose_crowded_allreduce(ask)
             : ask.bytes <= (ask.ranks == 2 ? 256 * kib : 4 * kib) ? "allreduce/mesh"
                                                                   : "allreduce/mesh_two_shot";
    case Collective::reduce_scatter:
      return "reduce_scatter/mesh";
    case Collective::alltoall:
      return "alltoall/mesh";
    case Collective::barrier:
      break;
  }
  return "barrier/dissemination";
}

/// Every byte is copied by the cores that the ranks share, so what counts is how little there is to
/// do, and how seldom somebody waits.
std::string_view choose_over_loopback(const ChoiceQuestion& ask) {
  const bool few = ask.ranks <= 4;
  const bool small = ask.bytes <= 8 * kib;
  switch (ask.collective) {
    case Collective::allreduce:
      if (ask.ranks == 2) {
        return ask.bytes <= 128 * kib    ? "allreduce/mesh"
               : ask.bytes <= 8192 * kib ? "allreduce/mesh_two_shot"
                                         : "allreduce/root";
      }
      if (ask.bytes <= 128 * kib) return "allreduce/root";
      return few && ask.bytes <= 8192 * kib ? "allreduce/mesh_two_shot" : "allreduce/ring";
    case Collective::allgather:
      return "allgather/mesh";
    case Collective::reduce_scatter:
      return "reduce_scatter/mesh";
    case Collective::alltoall:
      return "alltoall/mesh";
    case Collective::barrier:
      return "barrier/dissemination";
    case Collective::broadcast:
      return small ? "broadcast/binomial" : "broadcast/flat";
    case Collective::reduce:
      return "reduce/flat";
    case Collective::scatter:
      return small ? "scatter/binomial" : "scatter/flat";
    case Collective::gather:
      break;
  }
  return "gather/flat";
}

std::string_view choose_over_network(const ChoiceQuestion& ask) {
  const bool few = ask.ranks <= 4;
  const bool small = ask.bytes <= 32 * kib;
  switch (ask.collective) {
    case Collective::broadcast:
      return small || few ? "broadcast/binomial" : "broadcast/scatter_allgather";
    case Collective::scatter:
      return "scatter/flat";
    case Collective::gather:
      return "gather/flat";
    case Collective::allgather:
      return small ? "allgather/bruck" : few ? "allgather/mesh" : "allgather/ring";
    case Collective::reduce:
      return small ? "reduce/binomial" : "reduce/reduce_scatter_gather";
    case Collective::allreduce:
      if (small) return "allreduce/recursive_doubling";
      return few ? "allreduce/mesh_two_shot" : "allreduce/ring";
    case Collective::reduce_scatter:
      return small ? "reduce_scatter/bruck" : few ? "reduce_scatter/mesh" : "reduce_scatter/ring";
    case Collective::alltoall:
      return few || ask.counted ? "alltoall/mesh" : "alltoall/pairwise";
    case Collective::barrier:
      break;
  }
  return "barrier/dissemination";
}

}  // namespace

const Algorithm& choose(const ChoiceQuestion& question) {
  switch (question.reach) {
    case Reach::network:
      return algorithm(choose_over_network(question));
    case Reach::loopback:
      return algorithm(choose_over_loopback(question));
    case Reach::memory:
    case Reach::crowded_memory:
      break;
  }
  return algorithm(choose_in_memory(question));
}

}  // namespace tutti
