#include "render/definition.hpp"

#include <array>
#include <cstddef>

namespace tutti::render {
namespace {

// In the order of collectives().
constexpr std::array definitions{
    Definition{.kind = "redistribution",
               .says = "The root sends its vector to every rank.",
               .use = "Start of a training run: all ranks get the same weights.",
               .otherwise = {},
               .sent = "n",
               .received = "n",
               .total = "(p−1)·n",
               .reason = "the root's n bytes must leave it once, and reach p−1 ranks"},
    Definition{.kind = "redistribution",
               .says = "The root sends block i of its vector to rank i.",
               .use = "Dealing out a batch, or a matrix by rows.",
               .otherwise = {},
               .sent = "(p−1)/p·n",
               .received = "n/p",
               .total = "(p−1)/p·n",
               .reason = "the root's blocks for others must leave it"},
    Definition{.kind = "redistribution",
               .says = "Rank i sends its block i to the root, which then has the whole vector.",
               .use = "Collecting results or statistics at one rank.",
               .otherwise = {},
               .sent = "n/p",
               .received = "(p−1)/p·n",
               .total = "(p−1)/p·n",
               .reason = "the blocks of others must reach the root"},
    Definition{
        .kind = "redistribution",
        .says = "Rank i sends its block i to every rank: all ranks end with the whole vector.",
        .use = "Sharded training (ZeRO, FSDP): the weights of a layer are gathered before it is "
               "computed.",
        .otherwise = {},
        .sent = "(p−1)/p·n",
        .received = "(p−1)/p·n",
        .total = "(p−1)·n",
        .reason = "every rank lacks (p−1)/p·n at the start, and what is received was sent"},
    Definition{.kind = "consolidation",
               .says = "The vectors of all ranks are added up, and the root gets the sum.",
               .use = "A loss or a count at one rank.",
               .otherwise = {},
               .sent = "n",
               .received = "n",
               .total = "(p−1)·n",
               .reason = "every other rank's n bytes must leave it, alone or in a sum"},
    Definition{
        .kind = "consolidation",
        .says = "The vectors of all ranks are added up, and every rank gets the sum.",
        .use = "Data-parallel training: the gradients of all ranks are averaged in every step.",
        .otherwise = {},
        .sent = "2(p−1)/p·n",
        .received = "2(p−1)/p·n",
        .total = "2(p−1)·n",
        .reason =
            "(p−1)·n bytes to add every block up somewhere, and as many to send the sums back "
            "(Patarasuk and Yuan, 2009)"},
    Definition{.kind = "consolidation",
               .says = "The vectors of all ranks are added up, and rank i gets block i of the sum.",
               .use = "Sharded training: each rank needs the gradients of its own shard only.",
               .otherwise = {},
               .sent = "(p−1)/p·n",
               .received = "(p−1)/p·n",
               .total = "(p−1)·n",
               .reason = "every rank's part of the blocks of others must leave it"},
    Definition{.kind = "redistribution",
               .says =
                   "Every rank has a different block for every rank; rank i's block j goes to rank "
                   "j. As a matrix of blocks, it is transposed.",
               .use = "Mixture-of-experts layers send each token to the rank of its expert; matrix "
                      "transposes and FFTs.",
               .otherwise = "p scatters at once, one from each rank",
               .sent = "(p−1)/p·n",
               .received = "(p−1)/p·n",
               .total = "(p−1)·n",
               .reason = "every rank's blocks for others must leave it, and none can be joined"},
    Definition{.kind = "synchronisation",
               .says = "No rank leaves before every rank has come. No data moves, only signals.",
               .use = "Measuring times; phases that must not overlap.",
               .otherwise = "an allreduce of nothing",
               .sent = {},
               .received = {},
               .total = {},
               .reason = {}},
};

constexpr std::array composed{
    Composition{Collective::broadcast, Collective::scatter, Collective::allgather,
                "broadcast/scatter_allgather"},
    Composition{Collective::allgather, Collective::gather, Collective::broadcast,
                "allgather/gather_broadcast"},
    Composition{Collective::reduce, Collective::reduce_scatter, Collective::gather,
                "reduce/reduce_scatter_gather"},
    Composition{Collective::allreduce, Collective::reduce_scatter, Collective::allgather,
                "allreduce/ring, halving_doubling, bruck, mesh_two_shot"},
    Composition{Collective::allreduce, Collective::reduce, Collective::broadcast,
                "allreduce/binomial, binary_tree, root, ring_naive"},
    Composition{Collective::reduce_scatter, Collective::reduce, Collective::scatter,
                "reduce_scatter/reduce_then_scatter"},
};

}  // namespace

const Definition& definition(Collective collective) {
  return definitions.at(static_cast<std::size_t>(collective));
}

std::span<const Composition> compositions() { return composed; }

bool has_dual(Collective collective) {
  return has_root(collective) || collective == Collective::allgather ||
         collective == Collective::reduce_scatter;
}

}  // namespace tutti::render
