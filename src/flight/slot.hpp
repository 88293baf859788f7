#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

#include "flight/record.hpp"

namespace tutti {

/// One record, which one thread writes while other threads and signal handlers read it.
///
/// A sequence lock of atomic words: no thread waits. A reader that overlaps a write sees an odd
/// mark, or a different mark afterwards, and returns nothing. Each word is stored with release and
/// loaded with acquire order. That costs no more than relaxed order here, and needs no fences,
/// which ThreadSanitizer does not support. After Boehm, "Can seqlocks get along with programming
/// language memory models?", MSPC 2012.
class alignas(64) FlightSlot {
 public:
  /// The content of a slot, with times in ticks.
  struct Found {
    std::uint64_t number = 0;
    FlightCall call{};
    FlightSite site{};
    std::uint64_t begun = 0;  ///< 0 if its time is not noted.
    std::uint64_t ended = 0;
    FlightRecord::State state = FlightRecord::State::running;
    std::optional<FlightRecord::Wait> wait{};
  };

  /// `turn` is the sequence number of the record in the ring.
  void begin(std::uint64_t turn, std::uint64_t number, const FlightCall& call,
             std::string_view site) {
    mark_.store(2 * turn + 1, std::memory_order_relaxed);
    number_.store(number, std::memory_order_release);
    begun_.store(0, std::memory_order_release);
    ended_.store(0, std::memory_order_release);
    const auto words = std::bit_cast<CallWords>(call);
    for (std::size_t i = 0; i < words.size(); ++i) {
      call_[i].store(words[i], std::memory_order_release);
    }
    waits_for_.store(no_rank, std::memory_order_release);
    if (site.empty()) {
      site_.back().store(0, std::memory_order_release);  // The last byte is the length.
    } else {
      write(FlightSite(site));
    }
    mark_.store(2 * turn + 2, std::memory_order_release);
  }

  void note_time(std::uint64_t now) { begun_.store(now, std::memory_order_release); }
  void end(std::uint64_t now) { ended_.store(now, std::memory_order_release); }
  void fail(std::uint64_t now) { ended_.store(now | failed_bit, std::memory_order_release); }
  [[nodiscard]] bool is_running() const { return ended_.load(std::memory_order_relaxed) == 0; }
  /// Not atomic as a whole: a concurrent reader may see the new bytes_done with the old rank.
  void note_wait(const FlightRecord::Wait& wait);

  /// The turn of the record that is here or being written; none if there never was one.
  [[nodiscard]] std::optional<std::uint64_t> turn() const;
  /// The record of that turn; none if another is here or it is being written.
  [[nodiscard]] std::optional<Found> read(std::uint64_t turn) const;

 private:
  using Word = std::atomic<std::uint64_t>;
  using CallWords = std::array<std::uint64_t, 5>;
  using SiteWords = std::array<std::uint64_t, 4>;
  static_assert(sizeof(FlightCall) == sizeof(CallWords), "pointers must have 64 bits");
  static_assert(sizeof(FlightSite) == sizeof(SiteWords));
  static_assert(Word::is_always_lock_free);

  static constexpr std::uint64_t no_rank = ~std::uint64_t{0};
  static constexpr std::uint64_t failed_bit = std::uint64_t{1} << 63;

  void write(const FlightSite& site);

  Word mark_{0};
  Word number_{0};
  Word begun_{0};  // 0 until note_time().
  Word ended_{0};  // 0 while it runs; with failed_bit if it failed.
  std::array<Word, 5> call_{};
  Word waits_for_{no_rank};  // Rank in the high half, round in the low half: one atomic word.
  Word bytes_done_{0};
  std::array<Word, 4> site_{};
};

}  // namespace tutti
