#include "cli/bench/limit.hpp"

namespace tutti::cli {
namespace {

/// What any algorithm has to do, in units of the larger buffer.
struct Burden {
  double copied = 0;  ///< Bytes that come to ranks from others and are not summed.
  double summed = 0;  ///< Bytes of results of sums.
  double sent = 0;    ///< Bytes that ranks with no common memory must send.
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

double limit_seconds(const BenchMachine& machine, Collective collective, std::uint32_t ranks,
                     std::uint64_t bytes) {
  const Burden least = burden(collective, ranks);
  const auto n = static_cast<double>(bytes);
  const BenchMachine::Memory& memory = machine.memory_at(bytes);
  const double sum = least.summed * n / memory.sum;
  if (machine.loopback) {
    return least.sent * n / machine.loopback->rate + sum + machine.loopback->latency;
  }
  return sum + least.copied * n / memory.copy + 2 * machine.flag;
}

}  // namespace tutti::cli
