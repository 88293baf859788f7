#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti {

/// What a rank was doing at some moment.
struct RankStatus {
  std::uint64_t call = 0;  ///< Number of the last call that it began; 0 if none.
  std::string words{};     ///< That call: "call 17, allreduce of 4 f32 by sum".
  bool runs = false;       ///< True if that call is still running.
  double seconds = 0;      ///< Since the call began, or since it ended.
  /// The call that another rank asks about: its number, its signature (equal for equal calls) and
  /// its description; empty if this rank did not make it, or no longer remembers it.
  std::uint64_t about = 0;
  std::uint32_t signature = 0;
  std::string asked{};

  struct Made {
    std::uint64_t call = 0;
    std::uint32_t signature = 0;
    std::string words{};
  };
  /// The calls before `about`: ranks may get past a call that others made differently, and notice
  /// it in the next.
  std::vector<Made> earlier{};
  static constexpr std::uint64_t most_earlier = 8;

  /// A running point-to-point message.
  struct Wait {
    std::uint32_t rank = 0;  ///< The peer; any_rank if a receive takes messages of all.
    std::uint32_t tag = 0;
    bool receives = false;  ///< True: waits for a message from that rank. Else: for its receive.
    /// A thread does nothing else until the message is done. One that runs in the background does
    /// not keep its rank from making the call that another rank waits for.
    bool blocks = false;
  };
  std::vector<Wait> waits{};
  static constexpr std::size_t most_waits = 64;
  bool has_more_waits = false;  ///< There are more than `waits` holds.

  // What follows is set only when a verdict is agreed on:
  /// Calls with retry that the rank has done. Sealed.
  std::uint64_t done = 0;
  /// The ranks that it knows to have left, and after how many calls.
  std::map<std::uint32_t, std::uint64_t> left{};
  /// Of ranks that are gone: the last status that it got from them, written.
  std::map<std::uint32_t, std::string> seen{};
};

[[nodiscard]] std::string write(const RankStatus& status);
/// The inverse of write(). Returns an empty status if `text` is not one.
[[nodiscard]] RankStatus read_rank_status(const std::string& text);

}  // namespace tutti
