#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace tutti {

/// Of strangers, the oldest first, the one who makes room for the next: the oldest from whichever
/// source most have come from. So a crowd from one place keeps out those of the same place only.
struct Eviction {
  std::size_t index = 0;
  std::size_t from_there = 0;  ///< How many have come from the same source.
};

template <class Strangers, class Source>
[[nodiscard]] Eviction choose_eviction(const Strangers& strangers, const Source& source) {
  std::map<std::string, Eviction> by_source;
  std::size_t index = 0;
  for (const auto& each : strangers) {
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
