#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace tutti {

/// Of strangers, the oldest first, the one who makes room for the next: the oldest from whichever
/// source most have come from. So a crowd from one place keeps out those of the same place only.
struct MakesRoom {
  std::size_t index = 0;
  std::size_t from_there = 0;  ///< How many have come from the same source.
};

template <class Strangers, class Source>
[[nodiscard]] MakesRoom who_makes_room(const Strangers& strangers, const Source& source) {
  std::map<std::string, MakesRoom> by_source;
  std::size_t index = 0;
  for (const auto& each : strangers) {
    MakesRoom& oldest =
        by_source.try_emplace(source(each), MakesRoom{.index = index}).first->second;
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
  return most == by_source.end() ? MakesRoom{} : most->second;
}

}  // namespace tutti
