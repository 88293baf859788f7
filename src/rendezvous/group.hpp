#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <tutti/rank.hpp>

#include "net/handshake.hpp"

namespace tutti {

/// The group that meets in a rendezvous, as one rank knows it. All but `rank` is the same on all
/// ranks.
struct Group {
  Rank rank{};
  std::uint32_t size = 1;
  std::string job{};  ///< Distinguishes jobs that meet at the same address. May be empty.
  Secret secret{};
};

/// The group of a process that asks a running group for admission. It has no rank yet: all of them
/// send the same greeting.
[[nodiscard]] inline Group newcomer_group(const Secret& secret) {
  return {.rank = Rank{1}, .size = 2, .job = "join", .secret = secret};
}

/// What the deadline of a rendezvous is for.
enum class DeadlineSpan {
  first_round,  ///< The first all_gather(); each later one may take as long as that was given.
  all_rounds,   ///< All of them together.
};

/// Is asked some times a second whether ranks will come: on rank 0 those whose contributions are
/// missing, on another rank none in particular. A text, the reason why they will not, ends the
/// rendezvous with peer_lost.
using Inquiry = std::function<std::string(std::span<const std::uint32_t> missing)>;
constexpr std::chrono::milliseconds between_inquiries{100};

/// The greeting in a rank's handshake: "tutti rendezvous 1 <job> <rank> <size>".
[[nodiscard]] std::string greeting(const Group& group);

/// Checks a greeting that rank 0 of `group` has received. Returns what is wrong with it; if nothing
/// is, returns an empty text and sets `rank` to the sender.
[[nodiscard]] std::string find_fault(const Group& group, const std::string& greeting, Rank& rank);

/// "rank 3", "ranks 3, 5 and 8", or "ranks 0, 1, 2, … (900 in all)".
[[nodiscard]] std::string name_ranks(std::span<const std::uint32_t> ranks, std::size_t in_all);

}  // namespace tutti
