#include "render/reason.hpp"

#include <algorithm>
#include <array>

namespace tutti::render {
namespace {

struct Entry {
  /// "allreduce/binomial", or "ring" for that algorithm of every collective.
  std::string_view name;
  Reason reason;
};

// Figures are counted elsewhere. A number that depends on p, n or a network is not written here.
constexpr std::array entries{
    Entry{"flat",
          {.idea = "The root deals with every other rank directly, one message each.",
           .why = "Nothing is shorter than one hop, and no rank but the root has any work. But the "
                  "root's own link carries everything, one message after the other, while all "
                  "others are idle: the time grows with p. It wins for two or three ranks, or if "
                  "the root can send to all at once.",
           .bound = "One round if ports are unlimited; with one port, p−1 messages in a row."}},
    Entry{
        "binomial",
        {.idea = "In every round each rank that has the data passes it on, so the number of "
                 "holders doubles. For a reduce, the same tree backwards.",
         .why = "No algorithm that sends one message per rank and round informs more than twice "
                "as many ranks as before, so ⌈log₂ p⌉ rounds is the least: this is the textbooks' "
                "minimum spanning tree. It wins for small messages, where every round costs α. "
                "For large ones it wastes bandwidth: the whole vector crosses in every round.",
         .bound = "Optimal in rounds; log₂ p times the optimum in bytes on the critical path."}},
    Entry{"binary_tree",
          {.idea = "Every rank has up to two children. Sums go up, the result comes down.",
           .why = "A parent serves only two children, so no rank is a hot spot, and a long message "
                  "can be cut into pieces that follow each other down the tree. Without pieces, a "
                  "parent sends twice per level and the tree takes up to twice as many message "
                  "times as the binomial one.",
           .bound = "Height ⌊log₂ p⌋; two messages per level with one port."}},
    Entry{
        "chain",
        {.idea = "The data goes from rank to rank, as buckets in a line of people.",
         .why = "As bad as can be in rounds, p−1 of them, and as good as can be in the work of a "
                "rank: each sends everything once. Cut into many pieces it is a pipeline that uses "
                "every link at all times, so with long messages and slices it is hard to beat.",
         .bound = "p−1 rounds."}},
    Entry{"scatter_allgather",
          {.idea = "The root deals out a block to each rank; then the blocks go round a ring until "
                   "all have all.",
           .why = "In the binomial tree the whole vector crosses in each of log₂ p rounds. Here "
                  "each byte leaves the root once, and afterwards all ranks send at the same time: "
                  "about 2n bytes on the critical path whatever p is. It pays p more rounds, so it "
                  "wins for large messages (van de Geijn).",
           .bound = "At most twice the least possible number of bytes."}},
    Entry{"double_tree",
          {.idea = "Two binary trees at once, each with half of the data, such that a rank that is "
                   "inside one tree is a leaf of the other.",
           .why = "In one binary tree half of the ranks are leaves, which never send on: half of "
                  "the bandwidth is unused. With two trees every rank is inside one of them, so "
                  "all links are busy, and still there are only about 2 log₂ p rounds (Sanders, "
                  "Speck and Träff; NCCL's trees).",
           .bound = "Latency of a tree, and with pieces nearly the bandwidth of a ring."}},
    Entry{"mesh",
          {.idea = "Every rank sends what it has to every other rank, at once.",
           .why = "One round: nothing has lower latency where every pair has a free link of its "
                  "own, as inside an NVLink box. The total grows with p², so it loses as soon as "
                  "links are shared or messages are long.",
           .bound = "One round if ports are unlimited."}},
    Entry{"mesh_two_shot",
          {.idea = "Each rank adds up one block of everybody's data, then sends the finished block "
                   "to all.",
           .why = "The one-shot mesh moves the whole vector p−1 times out of each rank. Here a "
                  "rank sends (p−1)/p of it twice: the fewest bytes there are, in two rounds. It "
                  "needs many ports or a fast switch.",
           .bound = "Optimal in bytes, with two rounds if ports are unlimited."}},
    Entry{"root",
          {.idea = "One rank collects everything, adds, and sends the sum back.",
           .why = "The obvious way. The root receives and sends p−1 whole vectors: its link is the "
                  "bottleneck however many other links are idle. Compare it with the ring, which "
                  "moves the same total number of bytes but spreads them over all links.",
           .bound = "Two rounds with unlimited ports; 2(p−1) message times with one."}},
    Entry{"ring_naive",
          {.idea = "The whole vector goes round the ring once to be added up, and once more to be "
                   "distributed.",
           .why = "At every moment one rank sends and all others wait: p−1 of p links are idle. It "
                  "moves no more bytes than the ring with blocks, and yet takes p times as long "
                  "for large vectors. This is the step before the idea that makes rings good.",
           .bound = "2(p−1) rounds, each with the whole vector."}},
    Entry{"ring",
          {.idea = "Cut the vector into p blocks. In every round each rank sends one block to the "
                   "right and adds or stores the one from the left; each block starts its journey "
                   "at another rank.",
           .why = "The blocks of the naive ring take turns on the same link; staggered, they are "
                  "on all p links at once. Every rank sends 2(p−1)/p·n bytes in an allreduce, "
                  "which no algorithm can undercut (Patarasuk and Yuan, 2009). Neighbours only "
                  "talk to neighbours, so it also fits most networks. Its price is 2(p−1) rounds "
                  "of latency: it wins for large n and loses for small n and large p.",
           .bound = "Optimal in bytes for every p."}},
    Entry{"bidirectional_ring",
          {.idea = "Blocks travel both ways round the ring at the same time.",
           .why = "A block needs to go at most half way round in each direction, so a phase takes "
                  "⌈(p−1)/2⌉ rounds instead of p−1; if p is even, half a block reaches the "
                  "opposite rank from each side. The bytes are the same. It is faster only if a "
                  "rank can send to both neighbours at once: with one port the two directions take "
                  "turns and nothing is gained.",
           .bound = "Optimal in bytes; half of the ring's rounds."}},
    Entry{
        "recursive_doubling",
        {.idea = "In round k, ranks at distance 2ᵏ exchange all they have; what a rank knows "
                 "doubles every round.",
         .why = "Both directions of a pair work at once, so log₂ p rounds suffice even though all "
                "ranks need the result: half of a tree up and down. As an allreduce it sends the "
                "whole vector every round, so it wins for small vectors; as an allgather it is "
                "optimal in bytes too. If p is odd at some level, one rank serves two partners.",
         .bound = "Optimal in rounds."}},
    Entry{"recursive_halving",
          {.idea = "In round k, ranks at half the distance exchange half of what they are "
                   "responsible for, and add.",
           .why = "Recursive doubling backwards: what a rank is responsible for halves every "
                  "round, so all rounds together move less than n bytes. log₂ p rounds and the "
                  "fewest bytes: the best of tree and ring.",
           .bound = "Optimal in rounds and bytes if p is a power of two."}},
    Entry{
        "halving_doubling",
        {.idea = "Recursive halving until each rank has one finished block, then recursive "
                 "doubling to share the blocks (Rabenseifner).",
         .why =
             "It has the tree's number of rounds and the ring's number of bytes. Textbooks say "
             "that p must be a power of two. It need not: here a group of odd size is divided into "
             "halves that differ by one, and one rank of the smaller half serves two partners. "
             "Partners are far apart in most networks, so the ring may still win there.",
         .bound = "2⌈log₂ p⌉ rounds, 2(p−1)/p·n bytes per rank if p = 2ᴸ."}},
    Entry{
        "bruck",
        {.idea = "Always to the rank 1, 2, 4, … further: every rank sends all it has gathered to a "
                 "rank at twice the distance of the round before.",
         .why = "The distances need no power of two, so ⌈log₂ p⌉ rounds and the fewest bytes hold "
                "for every p. As an alltoall it trades bytes for rounds: a block travels by hops "
                "of 1, 2, 4, …, several blocks in one message, which pays for very short blocks.",
         .bound = "Optimal in rounds for every p; as an allgather in bytes too."}},
    Entry{"gather_broadcast",
          {.idea = "All blocks go to one rank, and from there the whole goes to all.",
           .why =
               "The composition of the definition: an allgather is a gather and then a broadcast. "
               "Two trees, 2⌈log₂ p⌉ rounds, but the broadcast carries all n bytes in every round.",
           .bound = "Twice the least number of rounds."}},
    Entry{"reduce_then_scatter",
          {.idea = "Add everything up at one rank, then deal out the blocks.",
           .why = "The composition of the definition. The reduce moves whole vectors although "
                  "every rank needs only one block of the sum.",
           .bound = "Twice the least number of rounds."}},
    Entry{"reduce_scatter_gather",
          {.idea = "First every rank adds up one block, then the root gathers the finished blocks.",
           .why = "The dual of scatter and allgather: all ranks share the work of adding, and only "
                  "finished blocks go to the root. For large vectors it beats the tree, in which "
                  "the root's children add whole vectors.",
           .bound = "At most twice the least possible number of bytes."}},
    Entry{"ring_ring",
          {.idea = "A ring inside each node reduces the vector to one block per rank; rings "
                   "between nodes reduce those blocks; then everything back.",
           .why = "Links inside a node are much faster than those between nodes. A flat ring sends "
                  "all n bytes through each link between nodes; here each rank sends only n/G of "
                  "them out of its node of G ranks. It also has far fewer rounds: 2(G−1)+2(N−1).",
           .bound = "Optimal in bytes for every rank, and only n/G of them cross the network."}},
    Entry{"ring_tree",
          {.idea = "A ring inside each node, a tree between the nodes.",
           .why = "As the ring of rings, but with log₂ N instead of N−1 steps between nodes: "
                  "better if there are many nodes and the blocks are short.",
           .bound = "2(G−1)+2⌈log₂ N⌉ rounds."}},
    Entry{"torus",
          {.idea = "The vector is cut into one part per dimension. Each part runs rings along all "
                   "dimensions, in a different order, so that all dimensions work at once.",
           .why = "A rank of a torus has links in 2d directions, and a single ring uses one of "
                  "them. This uses one in each dimension at the same time, and no ring is longer "
                  "than a side of the torus.",
           .bound = "Optimal in bytes; 2Σ(sᵢ−1) rounds."}},
    Entry{"pairwise",
          {.idea = "In round k, each rank sends to the rank k above it and receives from the rank "
                   "k below.",
           .why = "Every rank has different data for every other, so (p−1)/p·n bytes must leave "
                  "each rank: there is nothing to save. What can be avoided is congestion: one "
                  "partner at a time, and never two senders for one receiver.",
           .bound = "Optimal in bytes."}},
    Entry{"dissemination",
          {.idea = "In round i, every rank notifies the rank 2ⁱ above it; with k, the ranks kⁱ, "
                   "2kⁱ, …, (k−1)kⁱ above it.",
           .why = "After round i a rank has heard, directly or not, from kⁱ⁺¹ ranks. After "
                  "⌈log_k p⌉ rounds everyone has heard of everyone: no rank may leave before all "
                  "have come, and there is no root to wait for. A larger k pays where ranks share "
                  "cores, since each may have to wait for its core in every round.",
           .bound = "Optimal in rounds, with k−1 messages of a rank in each."}},
    Entry{"knomial",
          {.idea = "Each rank that has the data passes it on to k−1 others in a round, so the "
                   "number of holders grows k-fold. The binomial tree is the case k = 2.",
           .why =
               "Fewer levels, ⌈log_k p⌉, for more messages per level. It wins where a rank can "
               "send several messages at once, so that a level costs about as much as one message. "
               "With one port the k−1 messages take turns, and the binomial tree is better.",
           .bound = "⌈log_k p⌉ rounds, with k−1 messages of a rank in each."}},
    Entry{"recursive_multiplying",
          {.idea = "Recursive doubling with k groups instead of two: in every round k groups "
                   "exchange what they have and become one.",
           .why = "⌈log_k p⌉ rounds instead of ⌈log₂ p⌉, for k−1 messages per rank and round. It "
                  "wins for short data on networks that take several messages of a rank at once. "
                  "With k = p it is the mesh, with k = 2 recursive doubling or halving.",
           .bound = "⌈log_k p⌉ rounds."}},
    Entry{"sparbit",
          {.idea = "Bruck's distances in the opposite order: far ranks first, near ranks last "
                   "(Loch and Koslovski, 2021).",
           .why = "The last round carries half of the data. In Bruck's algorithm it goes to the "
                  "farthest ranks, here to the nearest, where a network is usually fastest and "
                  "least shared. Rounds and bytes are those of Bruck.",
           .bound = "Optimal in rounds and bytes for every p."}},
    Entry{"pat",
          {.idea = "Binomial trees, one from each rank, rotated so that all work at once; a "
                   "message carries at most a few blocks, and the rest of the trees follows branch "
                   "by branch (Jeaugey, 2025).",
           .why = "Few blocks per message mean little memory for sums that are not complete, and "
                  "far ranks get short messages. It lies between Bruck, with few rounds and large "
                  "messages, and the ring, with many rounds and small ones. The number of blocks "
                  "chooses the place between them.",
           .bound = "Optimal in bytes; from ⌈log₂ p⌉ rounds with many blocks per message to p−1 "
                    "with one."}},
    Entry{"neighbour_exchange",
          {.idea = "Ranks exchange with their left and their right neighbour in turn, after the "
                   "first round two blocks at a time (Chen and Sun, 2005).",
           .why = "Like the ring it only needs links between neighbours, but both partners of a "
                  "pair send at once, so that p/2 rounds suffice instead of p−1. It needs an even "
                  "number of ranks; tutti falls back to the ring for an odd one.",
           .bound = "Optimal in bytes; half of the ring's rounds."}},
    Entry{"swing",
          {.idea = "Recursive halving and doubling with partners 1, 1, 3, 5, 11, … ranks away, "
                   "alternately to the left and to the right (De Sensi and others, 2024).",
           .why = "Halving and doubling sends to ranks 1, 2, 4, 8, … away. On a ring or torus such "
                  "messages cross many links, which they share. Swing's partners are a third "
                  "closer on average, in as many rounds. It wins on a torus for sizes at which "
                  "rings have too many rounds.",
           .bound = "2⌈log₂ p⌉ rounds and 2(p−1)/p·n bytes per rank if p = 2ᴸ."}},
    Entry{"swing_torus",
          {.idea = "Swing along the dimensions of a torus in turn; several copies at once, each "
                   "starting in another dimension and direction, share the data.",
           .why = "All links of the torus are busy, and there are only 2⌈log₂ p⌉ rounds. Rings "
                  "along the dimensions use the links a little better, but have many more rounds: "
                  "Swing wins up to some megabytes.",
           .bound = "2⌈log₂ p⌉ rounds; optimal in bytes."}},
    Entry{
        "mesh_ring",
        {.idea =
             "All to all within a node, rings between the ranks of the same place on every node.",
         .why = "Links within a node are fast and not shared, so one round there is cheap. Between "
                "nodes every block crosses to every node once, which is the least, and all NICs of "
                "a node share the work. It wins for large data on nodes with a NIC per rank.",
         .bound = "N−1 rounds between nodes; every block enters a node once."}},
    Entry{"mesh_bruck",
          {.idea = "Bruck's distances between nodes, all to all within them.",
           .why = "As mesh_ring with ⌈log₂ N⌉ rounds between nodes instead of N−1: better for "
                  "short data or many nodes.",
           .bound = "⌈log₂ N⌉ rounds between nodes; every block enters a node once."}},
    Entry{"mesh_tree",
          {.idea = "The root's node deals out a piece to each of its ranks; each piece goes down a "
                   "tree between nodes; then all to all within every node.",
           .why = "All NICs of a node carry a piece at the same time, instead of one NIC the "
                  "whole. Trees between nodes keep the rounds low. It wins for medium data on "
                  "nodes with several NICs.",
           .bound = "Every byte enters a node once."}},
    Entry{"mesh_chain",
          {.idea = "As mesh_tree, with chains between nodes.",
           .why = "A chain cut into segments is a pipeline: while a node sends on one segment, it "
                  "receives the next, so that the time hardly depends on the number of nodes. It "
                  "wins for large data.",
           .bound = "Every byte enters and leaves a node at most once."}},
    Entry{"mesh_pairwise",
          {.idea = "Blocks for the same place on other nodes are first collected within the node; "
                   "then one node per round.",
           .why =
               "As many bytes cross between nodes as in any alltoall, but in N−1 messages per rank "
               "instead of p−1. It wins for short blocks, where messages cost more than bytes.",
           .bound = "N−1 rounds between nodes."}},
    Entry{"barrier/binomial",
          {.idea = "Signals go up a tree to rank 0, and back down.",
           .why = "Fewer messages than dissemination, 2(p−1) in all, but twice the rounds.",
           .bound = "2⌈log₂ p⌉ rounds."}},
    Entry{"scatter/binomial",
          {.idea = "The root sends the half of the blocks that belongs to the other half of the "
                   "ranks, and so on: recursive halving.",
           .why = "Each round moves half as much as the one before, so all together move (p−1)/p·n "
                  "bytes through the root's link, as in the flat scatter, but in ⌈log₂ p⌉ messages "
                  "instead of p−1.",
           .bound = "Optimal in rounds and in the root's bytes."}},
    Entry{
        "gather/binomial",
        {.idea =
             "Blocks are joined pairwise on their way to the root: the binomial scatter backwards.",
         .why = "The root receives ⌈log₂ p⌉ messages instead of p−1, and no more bytes.",
         .bound = "Optimal in rounds and in the root's bytes."}},
    Entry{"allreduce/binomial",
          {.idea = "A reduce up a binomial tree, then a broadcast down the same tree.",
           .why = "Two optimal trees, one after the other: 2⌈log₂ p⌉ rounds. The textbooks' "
                  "latency-optimised allreduce. Recursive doubling does it in half as many rounds, "
                  "because there both partners of a pair send; halving and doubling does it with "
                  "far fewer bytes.",
           .bound = "Twice the least number of rounds."}},
};

}  // namespace

const Reason* find_reason(std::string_view algorithm) {
  const std::string_view whole = algorithm.substr(0, algorithm.find(':'));
  const std::string_view last = whole.substr(whole.find('/') + 1);
  for (const std::string_view name : {whole, last}) {
    const auto* const found = std::find_if(entries.begin(), entries.end(),
                                           [&](const Entry& each) { return each.name == name; });
    if (found != entries.end()) return &found->reason;
  }
  return nullptr;
}

}  // namespace tutti::render
