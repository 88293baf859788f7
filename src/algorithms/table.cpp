#include <array>

#include <tutti/schedule/algorithm.hpp>

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/alltoall/alltoall.hpp"
#include "algorithms/barrier/barrier.hpp"
#include "algorithms/broadcast/broadcast.hpp"
#include "algorithms/gather/gather.hpp"
#include "algorithms/reduce/reduce.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"
#include "algorithms/scatter/scatter.hpp"
#include "algorithms/segments.hpp"

namespace tutti {
namespace {

std::uint64_t one(const Problem& /*problem*/) { return 1; }
std::uint64_t per_rank(const Problem& problem) { return problem.ranks; }
/// Two per rank if blocks meet half way round an even ring.
std::uint64_t per_half_way(const Problem& problem) {
  const bool halves = problem.ranks > 2 && problem.ranks % 2 == 0;
  return std::uint64_t{problem.ranks} * (halves ? 2 : 1);
}
std::uint64_t per_pair(const Problem& problem) {
  return std::uint64_t{problem.ranks} * problem.ranks;
}
std::uint64_t per_rank_of_node(const Problem& problem) { return problem.shape.dimensions[0]; }
std::uint64_t per_segment(const Problem& problem) { return segments_of(problem); }
std::uint64_t two_per_segment(const Problem& problem) { return 2 * per_segment(problem); }
std::uint64_t per_rank_of_node_and_segment(const Problem& problem) {
  return per_rank_of_node(problem) * per_segment(problem);
}
std::uint64_t per_rank_and_way(const Problem& problem) {
  return std::uint64_t{problem.ranks} * problem.values[0];
}
std::uint64_t per_rank_dimension_and_way(const Problem& problem) {
  return per_rank_and_way(problem) * problem.shape.dimensions.size();
}

constexpr std::array tried_radices{3U, 8U};
constexpr std::array radix{AlgorithmParameter{.name = "k",
                                              .summary = "groups or subtrees per round",
                                              .least = 2,
                                              .most = 1024,
                                              .usual = 4,
                                              .tried = tried_radices}};
constexpr std::array tried_fan_outs{4U, 8U};
constexpr std::array fan_out{AlgorithmParameter{.name = "k",
                                                .summary = "a rank notifies k−1 others per round",
                                                .least = 2,
                                                .most = 1024,
                                                .usual = 2,
                                                .tried = tried_fan_outs}};
constexpr std::array tried_segments{4U, 16U, 64U};
constexpr std::array segments{AlgorithmParameter{.name = "segments",
                                                 .summary = "pieces that follow each other",
                                                 .least = 1,
                                                 .most = 4096,
                                                 .usual = 1,
                                                 .tried = tried_segments}};
constexpr std::array tried_blocks{2U, 32U};
constexpr std::array blocks{AlgorithmParameter{.name = "blocks",
                                               .summary = "most blocks in a message",
                                               .least = 1,
                                               .most = 65536,
                                               .usual = 8,
                                               .tried = tried_blocks}};
constexpr std::array one_way_too{1U};
constexpr std::array both_ways{AlgorithmParameter{.name = "ways",
                                                  .summary = "directions of each ring: 1 or 2",
                                                  .least = 1,
                                                  .most = 2,
                                                  .usual = 2,
                                                  .tried = one_way_too}};
constexpr std::array two_ways_too{2U};
constexpr std::array one_way{AlgorithmParameter{.name = "ways",
                                                .summary = "directions of the ring: 1 or 2",
                                                .least = 1,
                                                .most = 2,
                                                .usual = 1,
                                                .tried = two_ways_too}};

constexpr std::string_view as_it_travels = "towards the root, one rank at a time";
constexpr std::string_view up_the_tree = "up the tree; in a fold, in order of rank";
constexpr std::string_view round_the_ring =
    "round the ring: block c from rank c+1 up to rank c; received sum + the rank's own";
constexpr std::string_view by_doubling = "by halves: lower half's sum + upper half's sum";
constexpr std::string_view by_groups = "by groups: the sums of k groups in order";
constexpr std::string_view by_swing = "from the nearest partner to the farthest; in order of rank";
constexpr std::string_view by_halving =
    "from the farthest partner to the nearest; in a fold, in order of rank";

using Chunks = std::uint64_t (*)(const Problem&);
using Build = Program (*)(const Problem&, Rank);

constexpr Algorithm shaped(std::string_view name, Collective collective, DimensionRange dimensions,
                           Chunks chunks, Build build, std::string_view summary,
                           std::string_view order) {
  return {.name = name,
          .collective = collective,
          .summary = summary,
          .order = order,
          .dimensions = dimensions,
          .chunks = chunks,
          .build = build};
}

constexpr Algorithm adds(std::string_view name, Collective collective, Chunks chunks, Build build,
                         std::string_view summary, std::string_view order) {
  return shaped(name, collective, {}, chunks, build, summary, order);
}

/// Adds all contributions in one fold, in order of rank.
constexpr Algorithm adds_by_rank(std::string_view name, Collective collective, Chunks chunks,
                                 Build build, std::string_view summary) {
  Algorithm row = adds(name, collective, chunks, build, summary, "in order of rank");
  row.folds_in_rank_order = true;
  return row;
}

constexpr Algorithm moves(std::string_view name, Collective collective, Chunks chunks, Build build,
                          std::string_view summary) {
  return adds(name, collective, chunks, build, summary, "");
}

/// A row with parameters, which have their usual values.
constexpr Algorithm with(std::span<const AlgorithmParameter> parameters, Algorithm row) {
  row.parameters = parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) row.values[i] = parameters[i].usual;
  return row;
}

using enum Collective;

constexpr std::array table{
    moves("broadcast/flat", broadcast, one, broadcast::flat, "the root sends to every rank"),
    moves("broadcast/binomial", broadcast, one, broadcast::binomial,
          "down a binomial tree; holders double every round"),
    moves("broadcast/binary_tree", broadcast, one, broadcast::binary_tree,
          "down a complete binary tree"),
    with(segments,
         moves("broadcast/chain", broadcast, per_segment, broadcast::chain, "from rank to rank")),
    moves("broadcast/scatter_allgather", broadcast, per_rank, broadcast::scatter_allgather,
          "scatter the data, then allgather in a ring"),
    with(segments, moves("broadcast/double_tree", broadcast, two_per_segment,
                         broadcast::double_tree, "half down each of two trees")),
    with(radix, moves("broadcast/knomial", broadcast, one, broadcast::knomial,
                      "down a k-nomial tree; holders grow k-fold every round")),
    shaped("broadcast/mesh_tree", broadcast, {2, 2}, per_rank_of_node, broadcast::mesh_tree,
           "pieces down trees between nodes, all to all within", ""),
    with(segments,
         shaped("broadcast/mesh_chain", broadcast, {2, 2}, per_rank_of_node_and_segment,
                broadcast::mesh_chain, "pieces along chains between nodes, all to all within", "")),

    moves("scatter/flat", scatter, per_rank, scatter::flat, "the root sends each rank its block"),
    moves("scatter/binomial", scatter, per_rank, scatter::binomial,
          "recursive halving down a tree"),
    with(radix, moves("scatter/knomial", scatter, per_rank, scatter::knomial,
                      "down a k-nomial tree, a part to each child")),

    moves("gather/flat", gather, per_rank, gather::flat, "every rank sends its block to the root"),
    moves("gather/binomial", gather, per_rank, gather::binomial,
          "blocks are joined pairwise up a tree"),
    with(radix, moves("gather/knomial", gather, per_rank, gather::knomial,
                      "blocks are joined, k ranges at a time, up a tree")),

    moves("allgather/mesh", allgather, per_rank, allgather::mesh, "every rank sends to every rank"),
    moves("allgather/ring", allgather, per_rank, allgather::ring, "blocks go round a ring"),
    moves("allgather/bidirectional_ring", allgather, per_half_way, allgather::bidirectional_ring,
          "blocks go both ways round a ring"),
    moves("allgather/recursive_doubling", allgather, per_rank, allgather::recursive_doubling,
          "groups exchange all their blocks and double"),
    moves("allgather/bruck", allgather, per_rank, allgather::bruck,
          "receive all blocks of the rank 1, 2, 4, … above"),
    moves("allgather/gather_broadcast", allgather, per_rank, allgather::gather_broadcast,
          "gather at rank 0, then broadcast"),
    with(radix, moves("allgather/recursive_multiplying", allgather, per_rank,
                      allgather::recursive_multiplying,
                      "k groups exchange all their blocks and become one")),
    moves("allgather/sparbit", allgather, per_rank, allgather::sparbit,
          "down rotated binomial trees, far ranks first"),
    with(blocks, moves("allgather/pat", allgather, per_rank, allgather::pat,
                       "down rotated trees, a few blocks per message")),
    moves("allgather/neighbour_exchange", allgather, per_rank, allgather::neighbour_exchange,
          "exchange with the left and the right neighbour in turn"),
    shaped("allgather/mesh_ring", allgather, {2, 2}, per_rank, allgather::mesh_ring,
           "rings across nodes, all to all within", ""),
    shaped("allgather/mesh_bruck", allgather, {2, 2}, per_rank, allgather::mesh_bruck,
           "Bruck's algorithm across nodes, then all to all within", ""),
    with(both_ways, shaped("allgather/torus", allgather, {2, 3}, per_rank_dimension_and_way,
                           allgather::torus, "rings along each dimension, all at once", "")),

    adds_by_rank("reduce/flat", reduce, one, reduce::flat, "every rank sends to the root"),
    adds_by_rank("reduce/mesh_two_shot", reduce, per_rank, reduce::mesh_two_shot,
                 "each rank adds up a block and sends it to the root"),
    adds("reduce/binomial", reduce, one, reduce::binomial,
         "up a binomial tree; holders halve every round", up_the_tree),
    adds("reduce/binary_tree", reduce, one, reduce::binary_tree, "up a complete binary tree",
         up_the_tree),
    with(segments, adds("reduce/chain", reduce, per_segment, reduce::chain, "from rank to rank",
                        as_it_travels)),
    adds("reduce/reduce_scatter_gather", reduce, per_rank, reduce::reduce_scatter_gather,
         "each rank adds up a block, the root gathers them", round_the_ring),
    with(segments, adds("reduce/double_tree", reduce, two_per_segment, reduce::double_tree,
                        "half up each of two trees", up_the_tree)),
    with(radix, adds("reduce/knomial", reduce, one, reduce::knomial,
                     "up a k-nomial tree; holders shrink k-fold every round", up_the_tree)),

    adds_by_rank("allreduce/mesh", allreduce, one, allreduce::mesh,
                 "every rank sends everything to every rank"),
    adds_by_rank("allreduce/mesh_two_shot", allreduce, per_rank, allreduce::mesh_two_shot,
                 "each rank adds up a block and sends it to all"),
    adds_by_rank("allreduce/root", allreduce, one, allreduce::root,
                 "rank 0 adds everything up and sends back the sum"),
    adds("allreduce/binary_tree", allreduce, one, allreduce::binary_tree,
         "up and down a complete binary tree", up_the_tree),
    adds("allreduce/binomial", allreduce, one, allreduce::binomial,
         "up and down a minimum spanning tree", up_the_tree),
    adds("allreduce/ring_naive", allreduce, one, allreduce::ring_naive,
         "the whole vector twice round a ring", as_it_travels),
    adds("allreduce/ring", allreduce, per_rank, allreduce::ring, "blocks twice round a ring",
         round_the_ring),
    adds("allreduce/bidirectional_ring", allreduce, per_half_way, allreduce::bidirectional_ring,
         "blocks twice round a ring, both ways",
         "from both sides of the ring to rank c; received sums + the rank's own"),
    adds("allreduce/recursive_doubling", allreduce, one, allreduce::recursive_doubling,
         "groups exchange whole sums and double", by_doubling),
    adds("allreduce/halving_doubling", allreduce, per_rank, allreduce::halving_doubling,
         "recursive halving, then doubling", by_halving),
    adds("allreduce/bruck", allreduce, per_rank, allreduce::bruck,
         "Bruck's reduce_scatter, then Bruck's allgather",
         "up the tree of Bruck's allgather run backwards; in a fold, in order of rank"),
    with(segments, adds("allreduce/double_tree", allreduce, two_per_segment, allreduce::double_tree,
                        "half up and down each of two trees",
                        "up each tree; in a fold, from left to right in the tree")),
    shaped("allreduce/ring_ring", allreduce, {2, 2}, per_rank, allreduce::ring_ring,
           "a ring in each node, rings across nodes",
           "round the ring of each node, then round the ring across nodes"),
    shaped("allreduce/ring_tree", allreduce, {2, 2}, per_rank_of_node, allreduce::ring_tree,
           "a ring in each node, trees across nodes",
           "round the ring of each node, then up the tree across nodes"),
    with(both_ways, shaped("allreduce/torus", allreduce, {2, 3}, per_rank_dimension_and_way,
                           allreduce::torus, "rings along each dimension, all at once",
                           "round the ring of each dimension in turn")),
    with(radix,
         adds("allreduce/recursive_multiplying", allreduce, one, allreduce::recursive_multiplying,
              "k groups exchange whole sums and become one", by_groups)),
    with(one_way, adds("allreduce/swing", allreduce, per_rank_and_way, allreduce::swing,
                       "halving and doubling with partners 1, 1, 3, 5, 11, … away", by_swing)),
    with(both_ways, shaped("allreduce/swing_torus", allreduce, {2, 3}, per_rank_dimension_and_way,
                           allreduce::swing_torus, "Swing along the dimensions in turn", by_swing)),

    adds_by_rank("reduce_scatter/mesh", reduce_scatter, per_rank, reduce_scatter::mesh,
                 "every rank sends each block to its owner"),
    adds("reduce_scatter/ring", reduce_scatter, per_rank, reduce_scatter::ring,
         "sums go round a ring", round_the_ring),
    adds("reduce_scatter/bidirectional_ring", reduce_scatter, per_half_way,
         reduce_scatter::bidirectional_ring, "sums arrive from both sides of a ring",
         "from both sides of the ring to rank c; received sums + the rank's "
         "own"),
    adds("reduce_scatter/recursive_halving", reduce_scatter, per_rank,
         reduce_scatter::recursive_halving, "groups exchange half of their sums and halve",
         by_halving),
    adds("reduce_scatter/bruck", reduce_scatter, per_rank, reduce_scatter::bruck,
         "Bruck's allgather run backwards",
         "up the tree of Bruck's allgather run backwards; in a fold, in order of rank"),
    adds("reduce_scatter/reduce_then_scatter", reduce_scatter, per_rank,
         reduce_scatter::reduce_then_scatter, "reduce to rank 0, then scatter", up_the_tree),
    with(radix, adds("reduce_scatter/recursive_multiplying", reduce_scatter, per_rank,
                     reduce_scatter::recursive_multiplying, "k groups exchange parts of their sums",
                     by_halving)),
    with(blocks, adds("reduce_scatter/pat", reduce_scatter, per_rank, reduce_scatter::pat,
                      "up rotated trees, a few blocks per message", up_the_tree)),
    shaped("reduce_scatter/mesh_ring", reduce_scatter, {2, 2}, per_rank, reduce_scatter::mesh_ring,
           "all to all within nodes, rings across",
           "round the ring across nodes; in a fold, in order of rank"),
    shaped("reduce_scatter/mesh_bruck", reduce_scatter, {2, 2}, per_rank,
           reduce_scatter::mesh_bruck, "all to all within nodes, then Bruck's algorithm backwards",
           "within each node in order of rank, then up the tree of Bruck's allgather "
           "run backwards"),
    with(both_ways,
         shaped("reduce_scatter/torus", reduce_scatter, {2, 3}, per_rank_dimension_and_way,
                reduce_scatter::torus, "rings along each dimension, all at once",
                "round the ring of each dimension in turn")),

    moves("alltoall/mesh", alltoall, per_pair, alltoall::mesh, "every rank sends to every rank"),
    moves("alltoall/pairwise", alltoall, per_pair, alltoall::pairwise, "one partner per round"),
    moves("alltoall/bruck", alltoall, per_pair, alltoall::bruck,
          "hops of 1, 2, 4, … ranks, many blocks per message"),
    shaped("alltoall/mesh_pairwise", alltoall, {2, 2}, per_pair, alltoall::mesh_pairwise,
           "within nodes all at once, then one node per round", ""),

    with(fan_out, moves("barrier/dissemination", barrier, one, barrier::dissemination,
                        "notify the rank 1, 2, 4, … above; k−1 ranks per round")),
    moves("barrier/binomial", barrier, one, barrier::binomial, "up and down a tree"),
};

}  // namespace

std::span<const Algorithm> algorithms() { return table; }

}  // namespace tutti
