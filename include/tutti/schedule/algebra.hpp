#pragma once

#include <cstdint>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>
#include <tutti/schedule/program.hpp>

/// Schedules made of schedules. Every operation works on one rank's program alone, in time
/// proportional to it; applied to the programs of all ranks it gives a schedule again.
namespace tutti {

/// Where a rank's own contribution stands in a fold that dual() makes.
enum class Own : std::uint8_t {
  by_rank,  ///< Among the others in ascending order of rank.
  last,     ///< After the others, which stand in ascending order of rank.
};

/// The program run backwards: sends become receives and receives sends, so that a program for
/// `collective` becomes one for dual(collective). Where that is a reduction, what used to be sent
/// to peers is now folded with the rank's own, which counts each contribution once if no rank was
/// sent a chunk that it already had. Throws unsupported if the collective has no dual, or the
/// program has local steps or other variants than the chunks themselves.
[[nodiscard]] TUTTI_API Program dual(const Program& program, Collective collective, Rank self,
                                     Own own = Own::by_rank);

/// `first`, then `second`: the rounds of the second follow those of the first.
[[nodiscard]] TUTTI_API Program then(Program first, const Program& second);

/// Both at once, round by round; where both have steps in a round, those of `one` come first, and
/// local steps after all messages.
/// They must touch different chunks.
[[nodiscard]] TUTTI_API Program beside(const Program& one, const Program& other);

/// Which ranks stand for ranks 0, 1, …: rank i becomes (first + i·stride) mod modulus.
struct RankMap {
  std::uint32_t first = 0;
  std::int64_t stride = 1;
  std::uint32_t modulus = 1;

  [[nodiscard]] TUTTI_API Rank operator()(Rank rank) const;
};

/// Which chunks stand for chunks 0, 1, …: chunk i becomes the `width` chunks from
/// (first + i·stride) mod modulus on.
/// Requires: first, stride and modulus are multiples of width.
struct ChunkMap {
  std::uint64_t first = 0;
  std::int64_t stride = 1;
  std::uint64_t modulus = 1;
  std::uint64_t width = 1;

  /// Appends what stands for `range`, in order, as few ranges as it takes.
  TUTTI_API void map(ChunkRange range, std::vector<ChunkRange>& into) const;
};

/// The program among other ranks and over other chunks: rings of rings, trees between nodes.
[[nodiscard]] TUTTI_API Program embed(const Program& program, const RankMap& ranks,
                                      const ChunkMap& chunks);

}  // namespace tutti
