#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <tutti/schedule/schedule.hpp>

namespace tutti::render {

/// What one node sends to another in some rounds.
struct Hop {
  std::uint64_t messages = 0;
  std::uint64_t chunks = 0;
  std::uint32_t first = 0;  ///< The first and the last round, counted from 1.
  std::uint32_t last = 0;
  bool adds = false;    ///< Some of it is added to what the receiver has.
  bool copies = false;  ///< Some of it replaces what the receiver has.
};

/// Who sends to whom in a schedule, over all rounds or some. Ranks can be folded into groups.
struct HopGraph {
  std::uint32_t nodes = 0;
  std::uint32_t fold = 1;    ///< Ranks per node: node k is ranks k·fold …
  std::uint64_t inside = 0;  ///< Messages between ranks of one node.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Hop> hops{};
};

/// Rounds are counted from 1; both ends are included.
struct RoundRange {
  std::uint32_t first = 1;
  std::uint32_t last = ~0U;
};

[[nodiscard]] HopGraph hop_graph(const Schedule& schedule, std::uint32_t fold,
                                 RoundRange rounds = {});

/// The hops of each set of chunks that travel along the same pairs, if there are at most `most`
/// sets; empty otherwise. The two trees of a double tree are two sets.
[[nodiscard]] std::vector<HopGraph> hop_graphs_by_way(const Schedule& schedule, std::size_t most);

}  // namespace tutti::render
