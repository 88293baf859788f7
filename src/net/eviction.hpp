#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace tutti {

/// Which unauthenticated peer to drop when there is no room for another: the oldest one from the
/// source that has most of them. So a flood from one source displaces only peers of that source.
struct Eviction {
  std::size_t index = 0;
  std::size_t from_there = 0;  ///< Number of peers from the same source.
};

/// Requires: `peers` in order of age, oldest first.
template <class Peers, class Source>
[[nodiscard]] Eviction choose_eviction(const Peers& peers, const Source& source) {
  std::map<std::string, Eviction> by_source;
  std::size_t index = 0;
  for (const auto& each : peers) {
    Eviction& oldest = by_source.try_emplace(source(each), Eviction{.index = index}).first->second;
    ++oldest.from_there;
    ++index;
  }
  const auto most =
      std::max_element(by_source.begin(), by_source.end(), [](const auto& a, const auto& b) {
        if (a.second.from_there != b.second.from_there) {
          return a.second.from_there < b.second.from_there;
        }
        return a.second.index > b.second.index;
      });
  return most == by_source.end() ? Eviction{} : most->second;
}

}  // namespace tutti
