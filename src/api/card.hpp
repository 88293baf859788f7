#pragma once

#include <string>
#include <vector>

#include "api/fabric.hpp"

namespace tutti {

/// What a rank tells the others about itself.
struct Card {
  std::string host;     ///< The same for all processes that can share memory.
  std::string network;  ///< The same for all that reach each other by the loopback interface.
  std::string name;     ///< Of the host, for people.
  int pid = 0;
  int heap_fd = -1;        ///< Of its shared heap; -1 if it has none.
  std::vector<int> cores;  ///< On which it may run.
  Way way = Way::automatic;
  std::uint64_t choice_digest = 0;
  std::string choice_origin{};
};

[[nodiscard]] Card own_card(const FabricSettings& settings);

[[nodiscard]] std::string write(const Card& card);
/// The inverse of write().
[[nodiscard]] Card read_card(const std::string& text);

}  // namespace tutti
