#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tutti/rank.hpp>

#include "net/handshake.hpp"

namespace tutti {

/// Who takes part in a rendezvous, as one rank sees it. All ranks must agree on all but the rank.
struct Group {
  Rank rank{};
  std::uint32_t size = 1;
  std::string job{};  ///< Tells jobs apart that meet at the same place. May be empty.
  Secret secret{};
};

/// How a rank introduces itself: "tutti rendezvous 1 <job> <rank> <size>".
[[nodiscard]] std::string greeting(const Group& group);

/// What is wrong with a greeting that rank 0 of `group` hears; empty if nothing is, and then `rank`
/// is who it comes from.
[[nodiscard]] std::string find_fault(const Group& group, const std::string& greeting, Rank& rank);

/// "rank 3", "ranks 3, 5 and 8", or "ranks 0, 1, 2, … (900 in all)".
[[nodiscard]] std::string name_ranks(std::span<const std::uint32_t> ranks, std::size_t in_all);

}  // namespace tutti
