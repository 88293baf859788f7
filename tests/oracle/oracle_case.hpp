#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

namespace tutti::oracle {

/// A case for both simulators.
struct Case {
  std::string network;
  std::string algorithm;
  std::uint32_t ranks = 0;
  std::uint64_t size = 0;
  bool uneven = false;      // Chunks of random sizes between 1/2 and 3/2 of the mean.
  bool placed = false;      // Ranks are placed at random.
  std::uint32_t ports = 1;  // 0: no limit.

  [[nodiscard]] ScheduleSource source() const;
  [[nodiscard]] Layout layout(const Contract& contract) const;
  /// places[r] is the rank of the network on which rank r runs; empty: rank r.
  [[nodiscard]] std::vector<Rank> places() const;
  /// "allreduce/ring on star:16, uneven".
  [[nodiscard]] std::string words() const;
};

}  // namespace tutti::oracle
