#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

/// What a rank was doing at some moment, in its own words.
struct RankStatus {
  std::uint64_t call = 0;  ///< The last call that it began; 0 if none.
  std::string words{};     ///< Which one: "call 17, allreduce of 4 f32 by sum".
  bool runs = false;       ///< Whether it is still in it.
  double seconds = 0;      ///< Since it began, or since it ended.
  /// A call that somebody asks about: its number, by what ranks compare whether they made the same,
  /// and in words; empty if it was not made, or too long ago.
  std::uint64_t about = 0;
  std::uint32_t signature = 0;
  std::string asked{};

  /// A call by its number, and the same about it.
  struct Made {
    std::uint64_t call = 0;
    std::uint32_t signature = 0;
    std::string words{};
  };
  /// The calls before the one that is asked about: ranks may get past a call that others made
  /// differently, and notice it in the next.
  std::vector<Made> earlier{};
  static constexpr std::uint64_t most_earlier = 8;

  /// Messages between two ranks that are under way: whom this rank waits for.
  struct Wait {
    std::uint32_t rank = 0;
    bool receives = false;  ///< A message from that rank; else for it to receive one.
  };
  std::vector<Wait> waits{};
  static constexpr std::size_t most_waits = 64;

  /// Of a rank that was asked for a verdict: how many calls with retry it has done. It is sealed.
  std::uint64_t done = 0;
};

[[nodiscard]] std::string write(const RankStatus& status);
/// The inverse of write(); nothing is known if it is not one.
[[nodiscard]] RankStatus read_rank_status(const std::string& text);

}  // namespace tutti
