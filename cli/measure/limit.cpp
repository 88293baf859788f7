#include "cli/measure/limit.hpp"

#include <algorithm>

namespace tutti::measure {
namespace {

/// The least work of any algorithm, in units of the larger buffer.
struct Burden {
  double copied = 0;      ///< Bytes that ranks get from other ranks without a sum.
  double once = 0;        ///< Bytes of sums that one rank needs.
  double everywhere = 0;  ///< Bytes of sums that all ranks need.
  double sent = 0;        ///< Bytes that ranks without shared memory must send.
};

Burden burden(Collective collective, double p) {
  switch (collective) {
    case Collective::allreduce:
      return {.everywhere = 1, .sent = 2 * (p - 1)};
    case Collective::reduce:
    case Collective::reduce_scatter:
      return {.once = 1, .sent = p - 1};
    case Collective::broadcast:
    case Collective::allgather:
    case Collective::alltoall:
      return {.copied = p - 1, .sent = p - 1};
    case Collective::scatter:
    case Collective::gather:
      return {.copied = (p - 1) / p, .sent = (p - 1) / p};
    case Collective::barrier:
      break;
  }
  return {};
}

}  // namespace

double limit_seconds(const Machine& machine, Collective collective, std::uint32_t ranks,
                     std::uint64_t bytes, Manner manner) {
  const Burden least = burden(collective, ranks);
  const auto n = static_cast<double>(bytes);
  const Machine::Memory& memory = machine.memory_at(bytes);
  const Machine::Sum& sum = manner.in_place ? memory.in_place : memory.out_of_place;
  // If some ranks need not wait for others, successive calls overlap.
  const bool overlaps = has_root(collective) && !manner.barrier;
  if (machine.loopback) {
    // Each rank computes the sums that it needs and has no faster way than `once`.
    const double work =
        least.sent * n / machine.loopback->rate + (least.once + least.everywhere) * n / sum.once;
    // A message costs the processor as much of its latency as its bytes do: no sum of both.
    return overlaps ? work : std::max(work, machine.loopback->latency);
  }
  const double work = least.copied * n / memory.copy + least.once * n / sum.once +
                      least.everywhere * n / sum.everywhere;
  return overlaps ? std::max(work, machine.note) : work + machine.flag;
}

}  // namespace tutti::measure
