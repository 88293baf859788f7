#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "select/profile.hpp"
#include "select/question.hpp"

namespace tutti::measure {

/// The calls whose choices are compared: all collectives and all kinds of links that the profile
/// has, with each of these numbers of ranks and each size class up to 4 GiB.
struct Calls {
  std::vector<std::uint32_t> ranks;  ///< Sorted.
  /// How many cores ranks share, if there are more ranks than cores.
  std::vector<std::uint32_t> cores;

  /// Every number up to 32, then fewer and fewer up to 4096.
  [[nodiscard]] static Calls dense();
};

/// The profile without the measurements that decide nothing: for each of the calls the same method
/// is chosen. `tutti choose` knows less of the methods that are never chosen.
[[nodiscard]] Profile deciding(const Profile& profile, const Calls& calls);

/// A call for which the profiles lead to different choices, in words; empty if there is none.
[[nodiscard]] std::string difference_of_choices(const Profile& a, const Profile& b,
                                                const Calls& calls);

}  // namespace tutti::measure
