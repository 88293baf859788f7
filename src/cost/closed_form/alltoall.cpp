#include <algorithm>
#include <array>

#include "cost/closed_form/formulas.hpp"

namespace tutti::formula::alltoall {
namespace {

double mesh(std::uint64_t p, double n, const Model& model) { return allgather::mesh(p, n, model); }

/// No rank forwards data, so with unlimited ports everything runs at once.
double pairwise(std::uint64_t p, double n, const Model& model) {
  return allgather::mesh(p, n, model);
}

/// Rounds 0 … rounds−1 of Bruck's algorithm, one after the other.
double bruck_rounds(std::uint64_t p, double block, std::uint32_t rounds, const Model& model) {
  double seconds = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    seconds += model.message(static_cast<double>(with_bit(p, round)) * block);
  }
  return seconds;
}

/// A round carries blocks that earlier rounds delivered. The last round carries only blocks that
/// travel at least 2^last and at most p−1 ranks, so they skip some earlier rounds. With unlimited
/// ports it does not wait for those.
double bruck(std::uint64_t p, double n, const Model& model) {
  const double block = n / static_cast<double>(p);
  const std::uint32_t last = ceil_log(p) - 1;
  const std::uint64_t farthest = p - 1 - (std::uint64_t{1} << last);
  const auto needed = model.one_port ? last : static_cast<std::uint32_t>(std::bit_width(farthest));
  const double last_message = model.message(static_cast<double>(with_bit(p, last)) * block);
  return std::max(bruck_rounds(p, block, last, model),
                  bruck_rounds(p, block, needed, model) + last_message);
}

/// Messages of n/G to the other ranks of the node, then messages of n/N to the other nodes.
double mesh_pairwise(const Shape& shape, double n, const Model& model) {
  const double within = in_node(shape) > 1 ? mesh(in_node(shape), n, model) : 0;
  const double across = nodes(shape) > 1 ? pairwise(nodes(shape), n, model) : 0;
  return within + across;
}

Figures mesh_pairwise_figures(const Shape& shape, std::uint64_t n) {
  const std::uint64_t p = shape.size();
  const std::uint64_t within = in_node(shape) - 1;
  const std::uint64_t across = nodes(shape) - 1;
  const std::uint64_t blocks = within * nodes(shape) + across * in_node(shape);
  return {.rounds = static_cast<std::uint32_t>((within > 0 ? 1 : 0) + across),
          .messages = p * (within + across),
          .bytes = blocks * n,
          .most_sent = blocks * (n / p),
          .most_received = blocks * (n / p),
          .most_in_a_round =
              std::max(within * nodes(shape), across > 0 ? in_node(shape) : 0) * (n / p)};
}

Figures mesh_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = 1,
          .messages = p * (p - 1),
          .bytes = (p - 1) * n,
          .most_sent = (p - 1) * block,
          .most_received = (p - 1) * block,
          .most_in_a_round = (p - 1) * block};
}

Figures pairwise_figures(std::uint64_t p, std::uint64_t n) {
  Figures figures = mesh_figures(p, n);
  figures.rounds = static_cast<std::uint32_t>(p - 1);
  figures.most_in_a_round = n / p;
  return figures;
}

Figures bruck_figures(std::uint64_t p, std::uint64_t n) {
  const std::uint64_t block = n / p;
  return {.rounds = ceil_log(p),
          .messages = p * ceil_log(p),
          .bytes = bits_below(p) * n,
          .most_sent = bits_below(p) * block,
          .most_received = bits_below(p) * block,
          .most_in_a_round = p / 2 * block};
}

constexpr std::array table{
    ClosedForm{.algorithm = "alltoall/mesh",
               .rounds = "1",
               .bytes = "(p−1)n",
               .most_in_a_round = "(p−1)/p·n",
               .seconds = "(p−1)(α+n/p·β)",
               .figures = figures<mesh_figures>,
               .time = time<mesh>},
    ClosedForm{.algorithm = "alltoall/pairwise",
               .rounds = "p−1",
               .bytes = "(p−1)n",
               .most_in_a_round = "n/p",
               .seconds = "(p−1)(α+n/p·β)",
               .figures = figures<pairwise_figures>,
               .time = time<pairwise>},
    ClosedForm{.algorithm = "alltoall/bruck",
               .rounds = "L",
               .bytes = "S·n",
               .most_in_a_round = "⌊p/2⌋·n/p",
               .seconds = "Lα + S·n/p·β",
               .figures = figures<bruck_figures>,
               .time = time<bruck>},
    ClosedForm{.algorithm = "alltoall/mesh_pairwise",
               .rounds = "N, or N−1 if G = 1",
               .bytes = "((G−1)/G + (N−1)/N)·pn",
               .most_in_a_round = "max((G−1)/G, 1/N)·n if N > 1",
               .seconds = "(G−1)(α+n/G·β) + (N−1)(α+n/N·β)",
               .figures = figures<mesh_pairwise_figures>,
               .time = time<mesh_pairwise>},
};

}  // namespace

std::span<const ClosedForm> closed_forms() { return table; }

}  // namespace tutti::formula::alltoall
