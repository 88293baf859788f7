#include "measure/limit.hpp"

namespace tutti::measure {
namespace {

/// The least work of any algorithm, in units of the larger buffer.
struct Burden {
  double copied = 0;  ///< Bytes that ranks get from other ranks without a sum.
  double summed = 0;  ///< Bytes of sums that are written.
  double sent = 0;    ///< Bytes that ranks without shared memory must send.
};

Burden burden(Collective collective, double p) {
  switch (collective) {
    case Collective::allreduce:
      return {.copied = p - 1, .summed = 1, .sent = 2 * (p - 1)};
    case Collective::reduce:
    case Collective::reduce_scatter:
      return {.copied = 0, .summed = 1, .sent = p - 1};
    case Collective::broadcast:
    case Collective::allgather:
    case Collective::alltoall:
      return {.copied = p - 1, .summed = 0, .sent = p - 1};
    case Collective::scatter:
    case Collective::gather:
      return {.copied = (p - 1) / p, .summed = 0, .sent = (p - 1) / p};
    case Collective::barrier:
      break;
  }
  return {};
}

}  // namespace

double limit_seconds(const Machine& machine, Collective collective, std::uint32_t ranks,
                     std::uint64_t bytes) {
  const Burden least = burden(collective, ranks);
  const auto n = static_cast<double>(bytes);
  const Machine::Memory& memory = machine.memory_at(bytes);
  const double sum = least.summed * n / memory.sum;
  if (machine.loopback) {
    return least.sent * n / machine.loopback->rate + sum + machine.loopback->latency;
  }
  return sum + least.copied * n / memory.copy + 2 * machine.flag;
}

}  // namespace tutti::measure
