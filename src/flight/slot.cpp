#include "flight/slot.hpp"

namespace tutti {

void FlightSlot::note_wait(const FlightRecord::Wait& wait) {
  bytes_done_.store(wait.bytes_done, std::memory_order_release);
  waits_for_.store(std::uint64_t{wait.rank} << 32 | wait.round, std::memory_order_release);
}

void FlightSlot::write(const FlightSite& site) {
  const auto words = std::bit_cast<SiteWords>(site);
  for (std::size_t i = 0; i < words.size(); ++i) {
    site_[i].store(words[i], std::memory_order_release);
  }
}

std::optional<std::uint64_t> FlightSlot::turn() const {
  const std::uint64_t mark = mark_.load(std::memory_order_acquire);
  return mark == 0 ? std::nullopt : std::optional((mark - 1) / 2);
}

std::optional<FlightSlot::Found> FlightSlot::read(std::uint64_t turn) const {
  const std::uint64_t wanted = 2 * turn + 2;
  if (mark_.load(std::memory_order_acquire) != wanted) return std::nullopt;
  const auto load = [](const Word& word) { return word.load(std::memory_order_acquire); };
  Found found{.number = load(number_), .begun = load(begun_)};
  const std::uint64_t ended = load(ended_);
  CallWords call{};
  for (std::size_t i = 0; i < call.size(); ++i) call[i] = load(call_[i]);
  const std::uint64_t waits_for = load(waits_for_);
  const std::uint64_t bytes_done = load(bytes_done_);
  SiteWords site{};
  for (std::size_t i = 0; i < site.size(); ++i) site[i] = load(site_[i]);
  if (mark_.load(std::memory_order_relaxed) != wanted) return std::nullopt;

  found.call = std::bit_cast<FlightCall>(call);
  found.site = std::bit_cast<FlightSite>(site);
  found.ended = ended & ~failed_bit;
  found.state = ended == 0                  ? FlightRecord::State::running
                : (ended & failed_bit) == 0 ? FlightRecord::State::done
                                            : FlightRecord::State::failed;
  if (waits_for != no_rank) {
    found.wait = {.rank = static_cast<std::uint32_t>(waits_for >> 32),
                  .round = static_cast<std::uint32_t>(waits_for),
                  .bytes_done = bytes_done};
  }
  return found;
}

}  // namespace tutti
