#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <tutti/schedule/schedule.hpp>

namespace tutti {

/// Which send meets which receive: the k-th send from a to b meets the k-th receive on b from a.
class Messages {
 public:
  /// Stands where a send or receive meets nothing.
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// Requires: every peer is one of the schedule's ranks.
  explicit Messages(const Schedule& schedule);

  /// For each peer of a step of `rank`, the index of the peer's step that meets it.
  [[nodiscard]] std::span<const std::uint32_t> counterparts(Rank rank, std::size_t step) const;

  /// Whether every send meets a receive and every receive a send.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  struct PerRank {
    std::vector<std::uint32_t> ends;   // Of each step in
    std::vector<std::uint32_t> meets;  // the list of what its peers' steps are.
  };

  std::vector<PerRank> ranks_;
  bool complete_ = true;
};

}  // namespace tutti
