#include "transport/memory/memory_transport.hpp"

#include <algorithm>

#include <tutti/error.hpp>

#include "transport/memory/memory_port.hpp"

namespace tutti {

MemoryTransport::MemoryTransport(Setting setting)
    : setting_(std::move(setting)),
      arena_(setting_.base, setting_.stripe_bytes, setting_.self),
      outbox_(arena_, setting_.locals.size(), setting_.outbox_slots, setting_.slot_bytes) {}

MemoryTransport::~MemoryTransport() = default;

std::vector<std::optional<std::uint32_t>> MemoryTransport::locals(
    const Membership& membership) const {
  std::vector<std::optional<std::uint32_t>> places(membership.size());
  for (std::uint32_t r = 0; r < membership.size(); ++r) {
    // In a group of one host, ranks are places.
    if (r < setting_.locals.size() && setting_.locals[r] == membership.members[r]) {
      places[r] = r;
      continue;
    }
    const auto found =
        std::find(setting_.locals.begin(), setting_.locals.end(), membership.members[r]);
    if (found == setting_.locals.end()) continue;
    places[r] = static_cast<std::uint32_t>(found - setting_.locals.begin());
  }
  return places;
}

std::uint64_t MemoryTransport::offer(const Membership& membership) {
  reclaim();
  const auto places = locals(membership);
  const auto first = std::find_if(places.begin(), places.end(),
                                  [](const auto& place) { return place.has_value(); });
  const auto here = static_cast<std::uint32_t>(std::count_if(
      places.begin(), places.end(), [](const auto& place) { return place.has_value(); }));
  const bool is_first = first - places.begin() == membership.self;
  return is_first ? arena_.allocate(SharedHeader::size(here)) : 0;
}

void MemoryTransport::withdraw(std::uint64_t offer) {
  if (offer != 0) arena_.release(offer);
}

std::unique_ptr<Port> MemoryTransport::open(const Membership& membership,
                                            std::span<const std::uint64_t> offers) {
  const auto places = locals(membership);
  const auto first = std::find_if(places.begin(), places.end(),
                                  [](const auto& place) { return place.has_value(); });
  const auto maker = static_cast<std::uint32_t>(first - places.begin());
  const std::uint64_t offset = offers[maker];
  if (offset == 0) {
    throw Error(ErrorCode::unsupported, "rank " + std::to_string(maker) +
                                            " has no shared memory left for another "
                                            "communicator");
  }
  return std::make_unique<MemoryPort>(*this, membership, places, offset, maker == membership.self);
}

void MemoryTransport::retire(ClosedPort closed) {
  {
    const std::lock_guard lock(mutex_);
    retired_.push_back(std::make_unique<ClosedPort>(std::move(closed)));
  }
  reclaim();
}

void MemoryTransport::reclaim() {
  const std::lock_guard lock(mutex_);
  std::erase_if(retired_, [this](const auto& each) { return reclaim(*each); });
}

/// Frees the shared state of a closed port in three steps. A rank leaves when all that it has sent
/// was read. When all ranks have left, each frees its own rings. When all have done that, the
/// rank that allocated the header frees them. A rank whose process has ended counts as done. A
/// rank that hangs does not: memory that it might still access is not reused.
bool MemoryTransport::reclaim(ClosedPort& closed) {
  const auto all = [&](auto&& flag) {
    for (std::uint32_t i = 0; i < closed.header.ranks(); ++i) {
      if (i == closed.self) continue;
      const bool is_done = flag(closed.header.retirement(i)).load(std::memory_order_acquire) != 0;
      if (!is_done && !setting_.has_ended(closed.members[i])) return false;
    }
    return true;
  };
  Retirement& own = closed.header.retirement(closed.self);
  const auto others_have_left = [&] {
    return all([](Retirement & r) -> auto& { return r.has_left; });
  };
  if (!closed.has_left) {
    if (!outbox_.is_clear(*closed.quota)) {
      if (!others_have_left()) return false;
      outbox_.forget(*closed.quota);
    }
    own.has_left.store(1, std::memory_order_release);
    closed.has_left = true;
  }
  if (!closed.has_cleared) {
    if (!others_have_left()) return false;
    for (const std::uint64_t each : closed.blocks) arena_.release(each);
    closed.blocks.clear();
    closed.has_cleared = true;
    if (!closed.own_header) {
      own.has_cleared.store(1, std::memory_order_release);
      return true;
    }
  }
  if (!all([](Retirement & r) -> auto& { return r.has_cleared; })) return false;
  arena_.release(*closed.own_header);
  return true;
}

}  // namespace tutti
