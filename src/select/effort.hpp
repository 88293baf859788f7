#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "select/method.hpp"

namespace tutti {

/// What a schedule asks of a machine: counts that the time it takes grows with. A model of the time
/// is a price for each.
///
/// The first counts are those of the α-β-γ model. Where ranks share cores, or every byte is copied
/// by a core on its way, what all ranks do together matters as well: it is counted for each core.
struct Effort {
  enum Kind : std::uint8_t {
    calls,            ///< One.
    rounds,           ///< Of messages that wait for each other.
    messages,         ///< One after the other, if a rank sends and receives one at a time.
    bytes,            ///< Likewise.
    busiest_bytes,    ///< Sent and received by the rank with the most of each.
    busiest_reduced,  ///< Bytes added by the rank that adds most.
    core_messages,    ///< Of all ranks, for each core.
    core_bytes,
    core_reduced,
  };
  static constexpr std::size_t kinds = 9;
  static constexpr std::array<std::string_view, kinds> names{
      "call",         "round",     "message",     "byte", "busiest_byte", "busiest_reduced",
      "core_message", "core_byte", "core_reduced"};

  std::array<double, kinds> counts{};
};

/// `bytes` is the size of the larger buffer; `cores` are those of all hosts together.
/// Counted by closed form where there is one, else from the schedule.
/// Requires: the method does not refuse the problem.
[[nodiscard]] Effort effort(const Method& method, const Problem& problem, std::uint64_t bytes,
                            std::uint32_t cores);

}  // namespace tutti
