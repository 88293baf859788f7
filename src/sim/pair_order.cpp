#include "sim/pair_order.hpp"

#include <unordered_map>

namespace tutti {

PairOrder::PairOrder(const Workload& workload)
    : before_(workload.messages.size(), none),
      after_(workload.messages.size(), none),
      waiting_(workload.messages.size(), none) {
  // Messages of a pair are numbered in program order.
  std::unordered_map<std::uint64_t, std::uint32_t> last;
  for (std::uint32_t id = 0; id < workload.messages.size(); ++id) {
    const Workload::Message& message = workload.messages[id];
    const std::uint64_t pair = std::uint64_t{message.from} << 32 | message.to;
    const auto [found, first] = last.try_emplace(pair, id);
    if (first) continue;
    before_[id] = found->second;
    after_[found->second] = id;
    found->second = id;
  }
}

bool PairOrder::may_flow(std::uint32_t message, std::uint32_t slot) {
  if (before_[message] == none) return true;
  waiting_[message] = slot;
  return false;
}

std::optional<std::uint32_t> PairOrder::arrived(std::uint32_t message) {
  const std::uint32_t next = after_[message];
  if (next == none) return {};
  before_[next] = none;
  if (waiting_[next] == none) return {};
  return waiting_[next];
}

}  // namespace tutti
