#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "select/method.hpp"

namespace tutti {

/// The work in a schedule, as counts on which its time depends linearly. A Model holds a price for
/// each count.
///
/// The first counts are those of the α-β-γ model. If ranks share cores, or a core copies every byte
/// on its way, the work of all ranks together matters too: it is counted per core.
struct Effort {
  enum Kind : std::uint8_t {
    calls,            ///< One.
    rounds,           ///< Messages that depend on each other.
    messages,         ///< On the critical path, with one port per rank.
    bytes,            ///< On the critical path, with one port per rank.
    busiest_bytes,    ///< Maximum over the ranks of bytes sent plus bytes received.
    busiest_reduced,  ///< Maximum over the ranks of bytes reduced.
    core_messages,    ///< Messages of all ranks, per core.
    core_bytes,
    core_reduced,
  };
  static constexpr std::size_t kinds = 9;
  static constexpr std::array<std::string_view, kinds> names{
      "call",         "round",     "message",     "byte", "busiest_byte", "busiest_reduced",
      "core_message", "core_byte", "core_reduced"};

  std::array<double, kinds> counts{};
};

/// Pricing larger schedules message by message takes too long while a call waits.
constexpr std::uint32_t most_priced_ranks = 256;

/// `bytes` is the size of the larger buffer; `cores` is the number of cores of all hosts together.
/// Computed by closed form if there is one, otherwise counted from the schedule.
/// Requires: the method supports the problem.
[[nodiscard]] Effort effort(const Method& method, const Problem& problem, std::uint64_t bytes,
                            std::uint32_t cores);

}  // namespace tutti
