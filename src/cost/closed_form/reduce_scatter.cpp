#include <algorithm>
#include <array>

#include "cost/closed_form/every_block.hpp"
#include "cost/closed_form/exchange.hpp"
#include "cost/closed_form/formulas.hpp"
#include "cost/closed_form/torus.hpp"

namespace tutti::formula::reduce_scatter {
namespace {

/// Every rank adds up its own block of all ranks.
double sums(std::uint64_t p, double n, const Model& model) {
  return model.sum(static_cast<double>(p - 1) / static_cast<double>(p) * n);
}

}  // namespace

double mesh(std::uint64_t p, double n, const Model& model) {
  return allgather::mesh(p, n, model) + sums(p, n, model);
}

double ring(std::uint64_t p, double n, const Model& model) {
  return allgather::ring(p, n, model) + sums(p, n, model);
}

/// The last sum waits for both sides and adds twice. Before that, with one port, additions overlap
/// with incoming messages, two per round, and the slower of the two limits the speed. If p is even,
/// the messages of the first round are half as long.
double bidirectional_ring(std::uint64_t p, double n, const Model& model) {
  const double block = n / static_cast<double>(p);
  const double message = model.message(block);
  const double sum = model.sum(block);
  const double slower = std::max(message, sum);
  if (p == 2) return message + sum;
  if (p % 2 == 1) {
    if (!model.one_port) return static_cast<double>(p / 2) * (message + sum) + sum;
    return 2 * (message + sum) + static_cast<double>(p - 3) * slower;
  }
  const double half_message = model.message(block / 2);
  const double half_sum = model.sum(block / 2);
  if (!model.one_port) {
    return half_message + half_sum + static_cast<double>(p / 2 - 1) * (message + sum) + sum;
  }
  return half_message + std::max(half_message, half_sum) + std::max(message, half_sum) +
         static_cast<double>(p - 4) * slower + message + 2 * sum;
}

/// If p is not a power of two, ranks are ready at different times, and the waiting depends on the
/// groups at all levels, from the largest down.
Seconds recursive_halving(std::uint64_t p, double n, const Model& model) {
  if (!std::has_single_bit(p)) return {};
  return ceil_log(p) * model.link.alpha + (static_cast<double>(p - 1) / static_cast<double>(p)) *
                                              n * (model.link.beta + model.gamma);
}

/// The first message has `rest` blocks; then follow half of the blocks of a full tree, a quarter,
/// and so on. The second message waits for the first sum only if it contains part of it. After that
/// there are no gaps.
double bruck(std::uint64_t p, double n, const Model& model) {
  if (p < 2) return 0;
  const double block = n / static_cast<double>(p);
  const std::uint64_t half = std::bit_ceil(p) / 2;
  const std::uint64_t rest = p - half;
  const double first_arrives = model.message(static_cast<double>(rest) * block);
  const double first_added = first_arrives + model.sum(static_cast<double>(rest) * block);
  if (p == 2) return first_added;
  const std::uint64_t second = half / 2;
  const double port_free = model.one_port ? first_arrives : 0;
  const double second_leaves = rest > second ? first_added : port_free;
  const double second_arrives = second_leaves + model.message(static_cast<double>(second) * block);
  const double second_added =
      std::max(second_arrives, first_added) + model.sum(static_cast<double>(second) * block);
  return second_added + floor_log(second) * model.link.alpha +
         static_cast<double>(second - 1) * block * (model.link.beta + model.gamma);
}

namespace {

double reduce_then_scatter(std::uint64_t p, double n, const Model& model) {
  return reduce::binomial(p, n, model) + scatter::binomial(p, n, model);
}

double mesh_bruck(const Shape& shape, double n, const Model& model) {
  const double within = in_node(shape) > 1 ? mesh(in_node(shape), n, model) : 0;
  return within + bruck(nodes(shape), n / static_cast<double>(in_node(shape)), model);
}

/// Every block that arrives is reduced.
Figures reducing(Figures figures) {
  figures.reduced = figures.bytes;
  figures.most_reduced = figures.most_received;
  return figures;
}

Figures mesh_figures(std::uint64_t p, std::uint64_t n) { return reducing(every_block::mesh(p, n)); }

Figures ring_figures(std::uint64_t p, std::uint64_t n) { return reducing(every_block::ring(p, n)); }

Figures bidirectional_ring_figures(std::uint64_t p, std::uint64_t n) {
  return reducing(every_block::bidirectional_ring(p, n));
}

Figures recursive_halving_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = every_block::evenly(p, n, ceil_log(p), (p + 1) / 2);
  figures.messages = exchange_messages(p);
  figures.most_received = most_exchanged_blocks(p) * (n / p);
  return reducing(figures);
}

Figures bruck_figures(std::uint64_t p, std::uint64_t n) {
  return reducing(every_block::bruck(p, n));
}

Figures reduce_then_scatter_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = 2 * ceil_log(p),
          .messages = 2 * (p - 1),
          .bytes = (p - 1) * n + bits_below(p) * block,
          .reduced = (p - 1) * n,
          .most_sent = n + (largest_branch(p) - 1) * block,
          .most_received = ceil_log(p) * n,
          .most_reduced = ceil_log(p) * n,
          .most_in_a_round = n};
}

Figures mesh_bruck_figures(const Shape& shape, std::uint64_t n) {
  return reducing(every_block::mesh_bruck(shape, n));
}

constexpr std::array table{
    ClosedForm{.algorithm = "reduce_scatter/mesh",
               .rounds = "1",
               .bytes = "(p−1)n",
               .most_in_a_round = "(p−1)/p·n",
               .seconds = "(p−1)α + (p−1)/p·n(β+γ)",
               .figures = figures<mesh_figures>,
               .time = time<mesh>},
    ClosedForm{.algorithm = "reduce_scatter/ring",
               .rounds = "p−1",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/p",
               .seconds = "(p−1)α + (p−1)/p·n(β+γ)",
               .figures = figures<ring_figures>,
               .time = time<ring>},
    ClosedForm{.algorithm = "reduce_scatter/bidirectional_ring",
               .rounds = "⌊p/2⌋",
               .bytes = "(p−1)n",
               .most_in_a_round = "min(2, p−1)·n/p",
               .seconds = "2(w+g) + (p−3)·max(w, g) if p is odd, w+g if p = 2, else v + max(v, "
                          "g/2) + max(w, g/2) + (p−4)·max(w, g) + w + 2g, with v = α+n/2p·β, w = "
                          "α+n/p·β, g = n/p·γ",
               .figures = figures<bidirectional_ring_figures>,
               .time = time<bidirectional_ring>},
    ClosedForm{.algorithm = "reduce_scatter/recursive_halving",
               .rounds = "L",
               .bytes = "(p−1)n",
               .most_in_a_round = "⌈p/2⌉·n/p",
               .seconds = "Lα + (p−1)/p·n(β+γ) if p = 2^L, else no formula",
               .figures = figures<recursive_halving_figures>,
               .time = time<recursive_halving>},
    ClosedForm{.algorithm = "reduce_scatter/bruck",
               .rounds = "L",
               .bytes = "(p−1)n",
               .most_in_a_round = "max(p−2^(L−1), 2^(L−2))·n/p",
               .seconds = "Lα + (p−1)/p·n(β+γ); if p ≤ 3·2^(L−2), minus "
                          "min((p−2^(L−1))·n/p·γ, α+2^(L−2)·n/p·β)",
               .figures = figures<bruck_figures>,
               .time = time<bruck>},
    ClosedForm{.algorithm = "reduce_scatter/reduce_then_scatter",
               .rounds = "2L",
               .bytes = "(p−1)n + S·n/p",
               .most_in_a_round = "n",
               .seconds = "reduce/binomial + Lα + (p−1)/p·nβ",
               .figures = figures<reduce_then_scatter_figures>,
               .time = time<reduce_then_scatter>},
    ClosedForm{.algorithm = "reduce_scatter/mesh_bruck",
               .rounds = "⌈log₂ N⌉+1 if G > 1",
               .bytes = "(p−1)n",
               .most_in_a_round = "(G−1)/G·n if G > 1",
               .seconds = "reduce_scatter/mesh among G ranks + reduce_scatter/bruck of n/G among N",
               .figures = figures<mesh_bruck_figures>,
               .time = time<mesh_bruck>},
    ClosedForm{
        .algorithm = "reduce_scatter/torus",
        .rounds = "Σ(sᵢ−1)",
        .bytes = "(p−1)n",
        .most_in_a_round = "n/d·Σ1/sᵢ if all sᵢ > 1",
        .seconds = "ways·dΣ(sᵢ−1)α + (p−1)/p·nβ if γ = 0, else by recurrence over the rounds",
        .figures = figures<formula::torus_reduce_scatter_figures>,
        .time = time<formula::torus_reduce_scatter>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::reduce_scatter
