#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "transport/inproc/thread_memory.hpp"
#include "transport/memory/memory_transport.hpp"

namespace tutti::test {

/// The ports of a communicator whose ranks share memory, all in one thread and in call 1.
class MemoryPorts {
 public:
  /// The view must outlive this.
  MemoryPorts(std::uint32_t ranks, SharedView& view, const Patience& patience = {})
      : memory_(Arena::size(stripe, ranks)) {
    std::vector<std::uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0U);
    const auto of = [&](std::uint32_t rank) { return Membership{1, rank, all}; };
    std::vector<std::uint64_t> offers;
    for (const std::uint32_t rank : all) {
      transports_.emplace_back(MemoryTransport::Setting{
          .base = memory_.data(),
          .stripe_bytes = stripe,
          .self = rank,
          .locals = all,
          .view = &view,
          .patience = patience,
          .has_ended = [](std::uint32_t) { return false; },
      });
      offers.push_back(transports_[rank].offer(of(rank)));
    }
    for (const std::uint32_t rank : all) {
      ports_.push_back(transports_[rank].open(of(rank), offers));
      ports_.back()->begin(1, {});
    }
  }

  [[nodiscard]] const std::unique_ptr<Port>& operator[](std::uint32_t rank) const {
    return ports_[rank];
  }

 private:
  static constexpr std::size_t stripe = std::size_t{4} << 20;

  ThreadMemory memory_;
  std::deque<MemoryTransport> transports_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace tutti::test
