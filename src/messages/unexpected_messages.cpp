#include "messages/unexpected_messages.hpp"

namespace tutti {

Arrival arrival_of(const Envelope& envelope) {
  auto arrival = std::make_shared<UnexpectedMessage>();
  arrival->rank = envelope.rank;
  arrival->tag = envelope.tag;
  arrival->bytes = envelope.bytes;
  return arrival;
}

void UnexpectedMessages::keep(const Arrival& arrival) {
  for (std::size_t index = 0; index < is_indexed_.size(); ++index) {
    if (is_indexed_[index]) add_to(index, arrival);
  }
}

void UnexpectedMessages::add_to(std::size_t index, const Arrival& arrival) {
  std::list<Arrival>& queue = queues_[MatchKey{arrival->rank, arrival->tag}.patterns()[index]];
  arrival->places_[index] = queue.insert(queue.end(), arrival);
}

Arrival UnexpectedMessages::find(std::uint32_t rank, std::uint32_t tag) {
  const MatchKey pattern{rank, tag};
  const std::size_t index = pattern.pattern_index();
  if (!is_indexed_[index]) {
    is_indexed_[index] = true;
    const auto all = queues_.find(MatchKey{});
    if (all == queues_.end()) return nullptr;
    const std::list<Arrival>& everything = all->second;  // Stays where it is in the map.
    for (const Arrival& arrival : everything) add_to(index, arrival);
  }
  const auto found = queues_.find(pattern);
  return found == queues_.end() ? nullptr : found->second.front();
}

void UnexpectedMessages::take(const Arrival& arrival) {
  const Arrival keep = arrival;  // The argument may be in a queue.
  const auto patterns = MatchKey{keep->rank, keep->tag}.patterns();
  for (std::size_t index = 0; index < patterns.size(); ++index) {
    if (!is_indexed_[index]) continue;
    const auto queue = queues_.find(patterns[index]);
    queue->second.erase(keep->places_[index]);
    if (queue->second.empty()) queues_.erase(queue);
  }
}

}  // namespace tutti
