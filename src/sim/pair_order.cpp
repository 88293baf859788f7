#include "sim/pair_order.hpp"

#include <utility>

namespace tutti {

PairOrder::PairOrder(const Workload& workload, std::span<const std::uint32_t> receivers)
    : places_(workload.messages.size()) {
  const auto receiver = [&](std::uint32_t message) {
    return receivers.empty() ? workload.messages[message].to : receivers[message];
  };
  std::vector<std::uint32_t> last;  // By receiver: the last message, which may be of another rank.
  for (std::uint32_t rank = 0; rank < workload.ranks(); ++rank) {
    for (const Workload::Passage& each : workload.outgoing(rank)) {
      const std::uint32_t id = each.message;
      if (last.size() <= receiver(id)) last.resize(receiver(id) + 1, none);
      const std::uint32_t before = std::exchange(last[receiver(id)], id);
      if (before == none || workload.messages[before].from != rank) continue;
      places_[id].before = before;
      places_[id].before_departed = false;
      places_[before].after = id;
      orders_any_ = true;
    }
  }
}

bool PairOrder::may_depart(std::uint32_t message) {
  places_[message].is_ready = true;
  return places_[message].before_departed;
}

std::optional<std::uint32_t> PairOrder::departed(std::uint32_t message) {
  const std::uint32_t next = places_[message].after;
  if (next == none) return {};
  places_[next].before_departed = true;
  if (!places_[next].is_ready) return {};
  return next;
}

bool PairOrder::may_flow(std::uint32_t message, std::uint32_t slot) {
  if (places_[message].before == none) return true;
  places_[message].waiting = slot;
  return false;
}

std::optional<std::uint32_t> PairOrder::arrived(std::uint32_t message) {
  const std::uint32_t next = places_[message].after;
  if (next == none) return {};
  places_[next].before = none;
  if (places_[next].waiting == none) return {};
  return places_[next].waiting;
}

}  // namespace tutti
