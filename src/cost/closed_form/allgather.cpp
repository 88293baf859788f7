#include <algorithm>
#include <array>

#include "cost/closed_form/exchange.hpp"
#include "cost/closed_form/formulas.hpp"

namespace tutti::formula::allgather {

double mesh(std::uint64_t p, double n, const Model& model) {
  return broadcast::flat(p, n / static_cast<double>(p), model);
}

double ring(std::uint64_t p, double n, const Model& model) {
  return broadcast::chain(p, n / static_cast<double>(p), model);
}

double bidirectional_ring(std::uint64_t p, double n, const Model& model) {
  const std::uint64_t in_turn = model.one_port ? p - 1 : p / 2;
  return static_cast<double>(in_turn) * model.message(n / static_cast<double>(p));
}

namespace {

/// In an even group both halves do the same and then exchange. In an odd group all ranks wait for
/// the rank that serves two. It can start when it has sent all its earlier messages and when the
/// first rank of the other half, which it serves first, has received all earlier data.
double exchange_in_turn(std::uint64_t p, double block, const Model& model) {
  if (p < 2) return 0;
  const std::uint64_t served = p / 2;
  const double message = model.message(static_cast<double>(served) * block);
  if (p % 2 == 0) return exchange_in_turn(served, block, model) + message;
  const auto moved = [&](std::uint32_t messages, std::uint64_t blocks) {
    return messages * model.link.alpha + static_cast<double>(blocks) * block * model.link.beta;
  };
  const double server_ready = moved(ceil_log(served), blocks_from_first(served));
  const double receiver_ready = moved(ceil_log(served + 1), served);
  return std::max(server_ready, receiver_ready) + 2 * message;
}

}  // namespace

/// With unlimited ports no rank waits for the rank that serves two. But if p is not a power of two,
/// some ranks of a group finish before others. How much that delays the next group depends on the
/// groups at all levels below.
Seconds recursive_doubling(std::uint64_t p, double n, const Model& model) {
  if (!model.one_port && !std::has_single_bit(p)) return {};
  return exchange_in_turn(p, n / static_cast<double>(p), model);
}

/// Every round carries all the blocks of the earlier rounds, except the last, which carries only
/// the first `rest` blocks. With unlimited ports the last round does not wait for the other blocks.
double bruck(std::uint64_t p, double n, const Model& model) {
  const double block = n / static_cast<double>(p);
  const auto until =
      [&](std::uint64_t blocks) {  // A power of two that includes the rank's own block.
        return floor_log(blocks) * model.link.alpha +
               static_cast<double>(blocks - 1) * block * model.link.beta;
      };
  if (p < 2) return 0;
  const std::uint64_t half = std::bit_ceil(p) / 2;
  const std::uint64_t rest = p - half;
  const double sent = until(model.one_port ? half : std::bit_ceil(rest));
  return std::max(until(half), sent + model.message(static_cast<double>(rest) * block));
}

namespace {

double gather_broadcast(std::uint64_t p, double n, const Model& model) {
  return gather::binomial(p, n, model) + broadcast::binomial(p, n, model);
}

/// Common to most of them: every rank sends as much as it receives.
Figures evenly(std::uint64_t p, std::uint64_t n, std::uint32_t rounds,
               std::uint64_t blocks_in_a_round) {
  const std::uint64_t block = n / p;
  return {.rounds = rounds,
          .messages = p * (p - 1),
          .bytes = (p - 1) * n,
          .most_sent = (p - 1) * block,
          .most_received = (p - 1) * block,
          .most_in_a_round = blocks_in_a_round * block};
}

Figures mesh_figures(std::uint64_t p, std::uint64_t n) { return evenly(p, n, 1, p - 1); }

Figures ring_figures(std::uint64_t p, std::uint64_t n) { return evenly(p, n, p - 1, 1); }

Figures bidirectional_ring_figures(std::uint64_t p, std::uint64_t n) {
  return evenly(p, n, p / 2, p == 2 ? 1 : 2);
}

Figures recursive_doubling_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = evenly(p, n, ceil_log(p), p % 2 == 0 ? p / 2 : p - 1);
  figures.messages = exchange_messages(p);
  figures.most_sent = most_exchanged_blocks(p) * (n / p);
  return figures;
}

Figures bruck_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = evenly(p, n, ceil_log(p), largest_branch(p));
  figures.messages = p * ceil_log(p);
  return figures;
}

Figures gather_broadcast_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = 2 * ceil_log(p),
          .messages = 2 * (p - 1),
          .bytes = bits_below(p) * block + (p - 1) * n,
          .most_sent = ceil_log(p) * n,
          .most_received = (largest_branch(p) - 1) * block + n,
          .most_in_a_round = n};
}

constexpr std::array table{
    ClosedForm{.algorithm = "allgather/mesh",
               .rounds = "1",
               .bytes = "(p−1)n",
               .most_in_a_round = "(p−1)/p·n",
               .seconds = "(p−1)α + (p−1)/p·nβ",
               .figures = figures<mesh_figures>,
               .time = time<mesh>},
    ClosedForm{.algorithm = "allgather/ring",
               .rounds = "p−1",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/p",
               .seconds = "(p−1)α + (p−1)/p·nβ",
               .figures = figures<ring_figures>,
               .time = time<ring>},
    ClosedForm{.algorithm = "allgather/bidirectional_ring",
               .rounds = "⌊p/2⌋",
               .bytes = "(p−1)n",
               .most_in_a_round = "min(2, p−1)·n/p",
               .seconds = "(p−1)α + (p−1)/p·nβ",
               .figures = figures<bidirectional_ring_figures>,
               .time = time<bidirectional_ring>},
    ClosedForm{.algorithm = "allgather/recursive_doubling",
               .rounds = "L",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/2 if p is even, else (p−1)/p·n",
               .seconds =
                   "Lα + (p−1)/p·nβ if p = 2^L, else (L+1)α + X(p)·n/p·β with X(p) = X(p/2)+p/2 "
                   "if p is even, else p−1+max(m, ⌈m/2⌉+⌈m/4⌉+…+1) with m = ⌊p/2⌋",
               .figures = figures<recursive_doubling_figures>,
               .time = time<recursive_doubling>},
    ClosedForm{.algorithm = "allgather/bruck",
               .rounds = "L",
               .bytes = "(p−1)n",
               .most_in_a_round = "max(p−2^(L−1), 2^(L−2))·n/p",
               .seconds = "Lα + (p−1)/p·nβ",
               .figures = figures<bruck_figures>,
               .time = time<bruck>},
    ClosedForm{.algorithm = "allgather/gather_broadcast",
               .rounds = "2L",
               .bytes = "(p−1)n + S·n/p",
               .most_in_a_round = "n",
               .seconds = "2Lα + ((p−1)/p+L)·nβ",
               .figures = figures<gather_broadcast_figures>,
               .time = time<gather_broadcast>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::allgather
