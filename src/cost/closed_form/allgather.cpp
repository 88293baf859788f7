#include <algorithm>
#include <array>

#include "cost/closed_form/every_block.hpp"
#include "cost/closed_form/exchange.hpp"
#include "cost/closed_form/formulas.hpp"
#include "cost/closed_form/torus.hpp"

namespace tutti::formula::allgather {

double mesh(std::uint64_t p, double n, const Model& model) {
  return broadcast::flat(p, n / static_cast<double>(p), model);
}

double ring(std::uint64_t p, double n, const Model& model) {
  return broadcast::chain(p, n / static_cast<double>(p), model);
}

/// With one port the two directions take turns.
double bidirectional_ring(std::uint64_t p, double n, const Model& model) {
  const double block = n / static_cast<double>(p);
  if (p == 2) return model.message(block);
  const double turns = model.one_port ? 2 : 1;
  const double halves = p % 2 == 0 ? model.message(block / 2) : 0;
  return turns * (static_cast<double>((p - 1) / 2) * model.message(block) + halves);
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

/// All ranks do the same at the same time. With unlimited ports a round waits for some of the
/// earlier ones only, unless p is a power of two.
Seconds sparbit(std::uint64_t p, double n, const Model& model) {
  if (!model.one_port && !std::has_single_bit(p)) return {};
  return ceil_log(p) * model.link.alpha +
         static_cast<double>(p - 1) / static_cast<double>(p) * n * model.link.beta;
}

/// The subtrees that parallel aggregated trees pass branch by branch.
std::uint64_t pat_span(const Problem& problem) {
  const std::uint64_t blocks = problem.values[0];
  return std::bit_ceil((problem.ranks + blocks - 1) / blocks);
}

std::uint64_t pat_rounds(const Problem& problem) {
  const std::uint64_t span = pat_span(problem);
  return ceil_log(problem.ranks) - std::min(ceil_log(problem.ranks), floor_log(span)) +
         std::min<std::uint64_t>(span, problem.ranks) - 1;
}

/// With unlimited ports a round waits for some of the earlier ones only.
Seconds pat(const Problem& problem, double n, const Model& model) {
  const std::uint64_t p = problem.ranks;
  if (!model.one_port && p > 2) return {};
  return static_cast<double>(pat_rounds(problem)) * model.link.alpha +
         static_cast<double>(p - 1) / static_cast<double>(p) * n * model.link.beta;
}

double neighbour_exchange(std::uint64_t p, double n, const Model& model) {
  if (p % 2 == 1) return ring(p, n, model);
  return static_cast<double>(p / 2) * model.link.alpha +
         static_cast<double>(p - 1) / static_cast<double>(p) * n * model.link.beta;
}

std::uint64_t mesh_ring_rounds(const Shape& shape) {
  return nodes(shape) - (in_node(shape) == 1 ? 1 : 0);
}

/// A block arrives before the rank has sent the previous one to all others, so that the ports are
/// always busy.
double mesh_ring(const Shape& shape, double n, const Model& model) {
  const std::uint64_t in_turn = model.one_port ? shape.size() - 1 : mesh_ring_rounds(shape);
  return static_cast<double>(in_turn) * model.message(n / static_cast<double>(shape.size()));
}

double mesh_bruck(const Shape& shape, double n, const Model& model) {
  const double within = in_node(shape) > 1 ? mesh(in_node(shape), n, model) : 0;
  return bruck(nodes(shape), n / static_cast<double>(in_node(shape)), model) + within;
}

Figures recursive_doubling_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = every_block::evenly(p, n, ceil_log(p), p % 2 == 0 ? p / 2 : p - 1);
  figures.messages = exchange_messages(p);
  figures.most_sent = most_exchanged_blocks(p) * (n / p);
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

Figures sparbit_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = every_block::evenly(p, n, ceil_log(p), p / 2);
  figures.messages = p * ceil_log(p);
  return figures;
}

Figures pat_figures(const Problem& problem, std::uint64_t n) {
  const std::uint64_t p = problem.ranks;
  const std::uint64_t span = pat_span(problem);
  const std::uint64_t rounds = pat_rounds(problem);
  const std::uint64_t most = span == 1 ? p / 2 : (p - 1 + span - 1) / span;
  Figures figures = every_block::evenly(p, n, rounds, most);
  figures.messages = p * rounds;
  return figures;
}

Figures neighbour_exchange_figures(std::uint64_t p, std::uint64_t n) {
  if (p % 2 == 1) return every_block::ring(p, n);
  Figures figures = every_block::evenly(p, n, p / 2, p == 2 ? 1 : 2);
  figures.messages = p * (p / 2);
  return figures;
}

Figures mesh_ring_figures(const Shape& shape, std::uint64_t n) {
  return every_block::evenly(shape.size(), n, mesh_ring_rounds(shape),
                             in_node(shape) - (nodes(shape) == 1 ? 1 : 0));
}

constexpr std::array table{
    ClosedForm{.algorithm = "allgather/mesh",
               .rounds = "1",
               .bytes = "(p−1)n",
               .most_in_a_round = "(p−1)/p·n",
               .seconds = "(p−1)α + (p−1)/p·nβ",
               .figures = figures<every_block::mesh>,
               .time = time<mesh>},
    ClosedForm{.algorithm = "allgather/ring",
               .rounds = "p−1",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/p",
               .seconds = "(p−1)α + (p−1)/p·nβ",
               .figures = figures<every_block::ring>,
               .time = time<ring>},
    ClosedForm{.algorithm = "allgather/bidirectional_ring",
               .rounds = "⌊p/2⌋",
               .bytes = "(p−1)n",
               .most_in_a_round = "min(2, p−1)·n/p",
               .seconds = "(p−1)α + (p−1)/p·nβ; plus α if p > 2 is even",
               .figures = figures<every_block::bidirectional_ring>,
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
               .figures = figures<every_block::bruck>,
               .time = time<bruck>},
    ClosedForm{.algorithm = "allgather/gather_broadcast",
               .rounds = "2L",
               .bytes = "(p−1)n + S·n/p",
               .most_in_a_round = "n",
               .seconds = "2Lα + ((p−1)/p+L)·nβ",
               .figures = figures<gather_broadcast_figures>,
               .time = time<gather_broadcast>},
    ClosedForm{.algorithm = "allgather/sparbit",
               .rounds = "L",
               .bytes = "(p−1)n",
               .most_in_a_round = "⌊p/2⌋·n/p",
               .seconds = "Lα + (p−1)/p·nβ",
               .figures = figures<sparbit_figures>,
               .time = time<sparbit>},
    ClosedForm{.algorithm = "allgather/pat",
               .rounds = "L−log₂ w + w−1 with w = 2^⌈log₂(p/blocks)⌉",
               .bytes = "(p−1)n",
               .most_in_a_round = "⌈(p−1)/w⌉·n/p if w > 1, else ⌊p/2⌋·n/p",
               .seconds = "(L−log₂ w + w−1)α + (p−1)/p·nβ with w = 2^⌈log₂(p/blocks)⌉",
               .figures = figures<pat_figures>,
               .time = time<pat>},
    ClosedForm{.algorithm = "allgather/neighbour_exchange",
               .rounds = "p/2 if p is even, else p−1",
               .bytes = "(p−1)n",
               .most_in_a_round = "2n/p if p > 2 is even, else n/p",
               .seconds = "p/2·α + (p−1)/p·nβ if p is even, else (p−1)α + (p−1)/p·nβ",
               .figures = figures<neighbour_exchange_figures>,
               .time = time<neighbour_exchange>},
    ClosedForm{.algorithm = "allgather/mesh_ring",
               .rounds = "N, or N−1 if G = 1",
               .bytes = "(p−1)n",
               .most_in_a_round = "G·n/p if N > 1",
               .seconds = "(p−1)α + (p−1)/p·nβ",
               .figures = figures<mesh_ring_figures>,
               .time = time<mesh_ring>},
    ClosedForm{.algorithm = "allgather/mesh_bruck",
               .rounds = "⌈log₂ N⌉+1 if G > 1",
               .bytes = "(p−1)n",
               .most_in_a_round = "(G−1)/G·n if G > 1",
               .seconds = "(⌈log₂ N⌉+G−1)α + (p−1)/p·nβ",
               .figures = figures<every_block::mesh_bruck>,
               .time = time<mesh_bruck>},
    ClosedForm{.algorithm = "allgather/torus",
               .rounds = "Σ(sᵢ−1)",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/d·Σ1/sᵢ if all sᵢ > 1",
               .seconds = "ways·dΣ(sᵢ−1)α + (p−1)/p·nβ",
               .figures = figures<formula::torus_allgather_figures>,
               .time = time<formula::torus_allgather>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::allgather
