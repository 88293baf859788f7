#include <bit>

#include <tutti/schedule/bounds.hpp>

namespace tutti {

Bounds bounds(Collective collective, std::uint32_t ranks, std::uint64_t n) {
  if (ranks < 2) return {};
  const std::uint64_t others = ranks - 1;
  const auto share = [&](std::uint64_t times) {  // ⌈times·(p−1)/p·n⌉ without overflow.
    const std::uint64_t whole = n / ranks * others * times;
    const std::uint64_t rest = n % ranks * others * times;
    return whole + (rest + ranks - 1) / ranks;
  };
  Bounds least;
  least.rounds = static_cast<std::uint32_t>(std::bit_width(ranks - 1));
  switch (collective) {
    case Collective::broadcast:
      least.most_sent = least.most_received = n;
      least.bytes = others * n;
      break;
    case Collective::reduce:
      least.most_sent = least.most_received = n;
      least.bytes = least.reduced = others * n;
      break;
    case Collective::scatter:
      // Only the root has the data; each other rank needs only its own block.
      least.most_sent = share(1);
      least.most_received = n / ranks;
      least.bytes = share(1);
      break;
    case Collective::gather:
      least.most_sent = n / ranks;
      least.most_received = share(1);
      least.bytes = share(1);
      break;
    case Collective::allgather:
      least.most_sent = least.most_received = share(1);
      least.bytes = others * n;
      break;
    case Collective::reduce_scatter:
      least.most_sent = least.most_received = share(1);
      least.bytes = least.reduced = others * n;
      break;
    case Collective::allreduce:
      least.most_sent = least.most_received = share(2);
      least.bytes = 2 * others * n;
      least.reduced = others * n;
      break;
    case Collective::alltoall:
      least.most_sent = least.most_received = share(1);
      least.bytes = others * n;
      break;
    case Collective::barrier:
      break;
  }
  return least;
}

}  // namespace tutti
