#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule_source.hpp>

namespace tutti::oracle {

/// Something that both simulators are asked.
struct Case {
  std::string network;
  std::string algorithm;
  std::uint32_t ranks = 0;
  std::uint64_t size = 0;
  bool uneven = false;      // Chunks of random sizes, of one to three halves of the mean.
  bool placed = false;      // Ranks stand at random places.
  std::uint32_t ports = 1;  // 0: any number.

  [[nodiscard]] ScheduleSource source() const;
  [[nodiscard]] Layout layout(const Contract& contract) const;
  /// Where each rank stands; empty if each stands at its own place.
  [[nodiscard]] std::vector<Rank> places() const;
  /// "allreduce/ring on star:16, uneven".
  [[nodiscard]] std::string words() const;
};

}  // namespace tutti::oracle
