#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "messages/match_key.hpp"
#include "messages/message.hpp"

namespace tutti {

/// The receives of one communicator that wait for a message. Each operation takes constant time,
/// however many receives there are.
class PostedReceives {
 public:
  void post(std::shared_ptr<Message> receive);
  /// Removes and returns the oldest receive that matches a message; null if there is none.
  [[nodiscard]] std::shared_ptr<Message> match(std::uint32_t rank, std::uint32_t tag);
  void clear();

 private:
  struct Posted {
    std::uint64_t turn;  // Counts the posted receives.
    std::shared_ptr<Message> receive;
  };

  std::unordered_map<MatchKey, std::list<Posted>, MatchKey::Hash> by_pattern_;
  std::uint64_t turns_ = 0;
  std::uint64_t with_any_ = 0;  // How many of them have a pattern with "any".
};

}  // namespace tutti
