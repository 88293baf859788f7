#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// Matches sends with receives: the k-th send from a to b meets the k-th receive on b from a.
class Messages {
 public:
  /// The counterpart of a send or receive without a match.
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// Requires: every peer is one of the schedule's ranks.
  explicit Messages(const Schedule& schedule);

  /// For each peer of a step of `rank`, the index of the matching step in the peer's program.
  [[nodiscard]] std::span<const std::uint32_t> counterparts(Rank rank, std::size_t step) const;

  /// True if every send meets a receive and every receive a send.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  struct PerRank {
    std::vector<std::uint32_t> ends;   // End of each step's entries in `meets`.
    std::vector<std::uint32_t> meets;  // The matching steps of its peers.
  };

  std::vector<PerRank> ranks_;
  bool complete_ = true;
};

}  // namespace tutti
