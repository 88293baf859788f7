#pragma once

#include <cstdint>
#include <functional>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>
#include <tutti/schedule/program.hpp>

/// Operations that build schedules from schedules. Each works on the program of one rank alone, in
/// time proportional to that program. Applied to the programs of all ranks, it gives a schedule.
namespace tutti {

/// The position of the rank's own contribution in a fold made by dual().
enum class Own : std::uint8_t {
  by_rank,  ///< Among the other contributions, in ascending order of rank.
  last,     ///< After the other contributions, which are in ascending order of rank.
};

/// Runs the program backwards: sends become receives and receives become sends. A program for
/// `collective` becomes one for dual(collective). If the dual is a reduction, a chunk that was sent
/// to peers is now received from them and folded with the rank's own. Each contribution counts once
/// if no rank was sent a chunk that it already had. Throws unsupported if the collective has no
/// dual, or if the program has local steps or variants other than variant 0.
[[nodiscard]] TUTTI_API Program dual(const Program& program, Collective collective, Rank self,
                                     Own own = Own::by_rank);

/// Runs `first`, then `second`. The rounds of `second` follow those of `first`.
[[nodiscard]] TUTTI_API Program then(Program first, const Program& second);

/// Runs both programs at once, round by round. Within a round the steps of `one` come first, and
/// local steps come after all messages. Requires: the two programs touch different chunks.
[[nodiscard]] TUTTI_API Program beside(const Program& one, const Program& other);

/// Maps ranks: rank i becomes (first + i·stride) mod modulus.
struct RankMap {
  std::uint32_t first = 0;
  std::int64_t stride = 1;
  std::uint32_t modulus = 1;

  [[nodiscard]] TUTTI_API Rank operator()(Rank rank) const;
};

/// Maps chunks: chunk i becomes the `width` chunks that start at (first + i·stride) mod modulus.
/// Requires: first, stride and modulus are multiples of width.
struct ChunkMap {
  std::uint64_t first = 0;
  std::int64_t stride = 1;
  std::uint64_t modulus = 1;
  std::uint64_t width = 1;

  /// Appends the images of the chunks of `range` to `into`, in order, as few ranges as possible.
  TUTTI_API void map(ChunkRange range, std::vector<ChunkRange>& into) const;
};

/// Runs the program on other ranks and other chunks: rings of rings, trees between nodes.
[[nodiscard]] TUTTI_API Program embed(const Program& program, const RankMap& ranks,
                                      const ChunkMap& chunks);

/// Appends the images of a chunk: any chunks, in any order.
using ChunkSets = std::function<void(Chunk chunk, std::vector<ChunkRange>& into)>;

/// embed() for chunks that become sets of chunks which no ChunkMap describes. Chunks that follow
/// each other become one range.
[[nodiscard]] TUTTI_API Program embed_sets(const Program& program, const RankMap& ranks,
                                           const ChunkSets& chunks);

/// Runs `segments` copies of the program, each one round behind the previous: a pipeline. Copy s
/// has chunk i·segments + s in place of chunk i.
[[nodiscard]] TUTTI_API Program pipelined(const Program& program, std::uint32_t segments);

}  // namespace tutti
