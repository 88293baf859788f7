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
  sweep();
  const auto places = locals(membership);
  const auto first = std::find_if(places.begin(), places.end(),
                                  [](const auto& place) { return place.has_value(); });
  const auto here = static_cast<std::uint32_t>(std::count_if(
      places.begin(), places.end(), [](const auto& place) { return place.has_value(); }));
  const bool is_first = first - places.begin() == membership.self.index();
  return is_first ? arena_.allocate(Commons::size(here)) : 0;
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
  return std::make_unique<MemoryPort>(*this, membership, places, offset,
                                      maker == membership.self.index());
}

void MemoryTransport::bury(Remains remains) {
  {
    const std::lock_guard lock(mutex_);
    buried_.push_back(std::make_unique<Remains>(std::move(remains)));
  }
  sweep();
}

void MemoryTransport::sweep() {
  const std::lock_guard lock(mutex_);
  std::erase_if(buried_, [this](const auto& each) { return sweep(*each); });
}

/// Frees the shared state of a closed port in three steps. A rank leaves when all that it has sent
/// was read. When all ranks have left, each frees its own mailboxes. When all have done that, the
/// rank that allocated the commons frees them. A rank whose process has ended counts as done. A
/// rank that hangs does not: memory that it might still access is not reused.
bool MemoryTransport::sweep(Remains& remains) {
  const auto all = [&](auto&& flag) {
    for (std::uint32_t i = 0; i < remains.commons.ranks(); ++i) {
      if (i == remains.self) continue;
      const bool is_done = flag(remains.commons.retirement(i)).load(std::memory_order_acquire) != 0;
      if (!is_done && !setting_.has_ended(remains.members[i])) return false;
    }
    return true;
  };
  Retirement& own = remains.commons.retirement(remains.self);
  const auto others_have_left = [&] {
    return all([](Retirement & r) -> auto& { return r.has_left; });
  };
  if (!remains.has_left) {
    if (!outbox_.is_clear(*remains.account)) {
      if (!others_have_left()) return false;
      outbox_.forget(*remains.account);
    }
    own.has_left.store(1, std::memory_order_release);
    remains.has_left = true;
  }
  if (!remains.has_cleared) {
    if (!others_have_left()) return false;
    for (const std::uint64_t block : remains.mailboxes) arena_.release(block);
    remains.mailboxes.clear();
    remains.has_cleared = true;
    if (!remains.own_commons) {
      own.has_cleared.store(1, std::memory_order_release);
      return true;
    }
  }
  if (!all([](Retirement & r) -> auto& { return r.has_cleared; })) return false;
  arena_.release(*remains.own_commons);
  return true;
}

}  // namespace tutti
