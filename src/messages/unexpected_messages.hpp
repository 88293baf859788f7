#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "messages/match_key.hpp"
#include "messages/message.hpp"

namespace tutti {

/// A message that arrived before a matching receive was posted.
struct UnexpectedMessage {
  std::uint32_t rank = 0;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;
  bool is_request = false;   ///< Rendezvous: its data is still at the sender.
  bool is_complete = false;  ///< All its data has arrived.
  std::vector<std::byte> data{};
  std::shared_ptr<Message> own_send{};  ///< For a message to self: the send with the data.
  std::shared_ptr<Message> taken_by{};  ///< The matching receive, waiting for completion.

  [[nodiscard]] Envelope envelope() const { return {.rank = rank, .tag = tag, .bytes = bytes}; }

 private:
  friend class UnexpectedMessages;
  std::array<std::list<std::shared_ptr<UnexpectedMessage>>::iterator, 4> places_{};
};

using Arrival = std::shared_ptr<UnexpectedMessage>;

[[nodiscard]] Arrival arrival_of(const Envelope& envelope);

/// The unexpected messages of one communicator, in order of arrival. Each operation takes constant
/// time, however many messages there are; the first search with an "any" takes linear time.
class UnexpectedMessages {
 public:
  void keep(const Arrival& arrival);
  /// The first message that matches a receive; null if there is none.
  [[nodiscard]] Arrival find(std::uint32_t rank, std::uint32_t tag);
  /// Removes a message that is kept.
  void take(const Arrival& arrival);
  void clear() { queues_.clear(); }

 private:
  void add_to(std::size_t index, const Arrival& arrival);

  /// Every message is in the queue of its own key and in the queue of all. The queues of patterns
  /// with one "any" are kept once a receive has used such a pattern.
  std::unordered_map<MatchKey, std::list<Arrival>, MatchKey::Hash> queues_;
  std::array<bool, 4> is_indexed_{true, false, false, true};  // By MatchKey::pattern_index().
};

}  // namespace tutti
