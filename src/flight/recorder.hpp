#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/rank.hpp>

#include "flight/record.hpp"
#include "flight/slot.hpp"
#include "flight/ticks.hpp"

namespace tutti {

/// The communicator and rank whose calls are recorded.
struct FlightOwner {
  /// The id of the communicator: the same on all its ranks, and unique.
  std::uint64_t communicator = 0;
  std::string name{};  ///< For messages only.
  Rank self{};
  std::uint32_t ranks = 1;
};

/// The last calls of one rank of one communicator.
///
/// One thread at a time writes it, without locks, in a few nanoseconds per call. Other threads and
/// signal handlers may read it at any time. So it is always on: after a failure it is too late to
/// switch it on.
class FlightRecorder {
 public:
  static constexpr std::size_t usual_records = 256;

  explicit FlightRecorder(FlightOwner owner, std::size_t records = usual_records);
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// `site` is the caller's name for the place of the call.
  void begin(std::uint64_t number, const FlightCall& call, std::string_view site = {}) {
    announce(number, call, site);
    note_time();
  }
  /// The two halves of begin(). Reading the clock takes as long as the rest, so a call is announced
  /// before other ranks can know of it, and gets its time while they are being told.
  void announce(std::uint64_t number, const FlightCall& call, std::string_view site) {
    if (next_ == fresh_) make_slot();
    current_ = next_;
    next_ = next_ + 1 == end_ ? slots_ : next_ + 1;
    current_->begin(turns_++, number, call, site);
  }
  void note_time() { current_->note_time(ticks()); }

  /// Identifies one of several overlapping calls.
  struct Handle {
    FlightSlot* slot = nullptr;
    std::uint64_t turn = 0;
  };
  [[nodiscard]] Handle begin_one(std::uint64_t number, const FlightCall& call,
                                 std::string_view site) {
    begin(number, call, site);
    return {.slot = current_, .turn = turns_ - 1};
  }
  /// Does nothing if the record has been overwritten.
  void end_one(const Handle& handle, bool is_well);

  // For the call that was begun last. Requires: there is one, except for fail().

  void end() { current_->end(ticks()); }
  /// Does nothing between calls.
  void fail() {
    if (current_ != nullptr && current_->is_running()) current_->fail(ticks());
  }
  void note_wait(const FlightRecord::Wait& wait) { current_->note_wait(wait); }

  // For any thread, but one at a time.

  /// Keeps the first reason only.
  void note_failure(std::string_view why);

  // For any thread, at any time.

  [[nodiscard]] const FlightOwner& owner() const { return owner_; }
  /// The reason of the first failure; empty if there was none. Truncated if it is very long.
  [[nodiscard]] std::string_view failure() const;
  [[nodiscard]] std::optional<FlightRecord> latest() const;
  /// The collective with that number, unless it has been overwritten.
  [[nodiscard]] std::optional<FlightRecord> find(std::uint64_t number) const;
  /// Oldest first. Omits records that are being overwritten.
  [[nodiscard]] std::vector<FlightRecord> all() const;

  /// Calls visit(record) for each record, oldest first. Async-signal-safe: allocates nothing.
  template <class Visit>
  void visit_all(Visit visit) const {
    const std::uint64_t turns = seen_turns();
    const TickScale scale(created_, TickMoment::now());
    for (std::uint64_t turn = turns > records_ ? turns - records_ : 0; turn < turns; ++turn) {
      if (const auto record = read(turn, scale)) visit(*record);
    }
  }

 private:
  void make_slot();
  /// The number of calls begun, as far as this thread can see.
  [[nodiscard]] std::uint64_t seen_turns() const;
  [[nodiscard]] std::optional<FlightRecord> read(std::uint64_t turn, const TickScale& scale) const;

  static constexpr std::size_t most_failure_bytes = 1000;

  FlightOwner owner_;
  TickMoment created_;
  std::size_t records_;
  // Most communicators make few calls, so slots are constructed on first use.
  std::unique_ptr<std::byte[]> memory_;
  FlightSlot* slots_ = nullptr;
  std::atomic<std::size_t> made_{0};
  std::unique_ptr<char[]> failure_;  // Communicators that never fail are many.
  std::atomic<std::size_t> failure_bytes_{0};

  // Only for the writer:
  FlightSlot* current_ = nullptr;
  FlightSlot* next_ = nullptr;
  FlightSlot* fresh_ = nullptr;  // The first slot not constructed yet; the end if there is none.
  FlightSlot* end_ = nullptr;
  std::uint64_t turns_ = 0;
};

}  // namespace tutti
