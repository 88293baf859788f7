#pragma once

#include <atomic>
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

/// Whose calls are recorded.
struct FlightOwner {
  /// The same on all ranks of a communicator, and no other communicator's.
  std::uint64_t communicator = 0;
  std::string name{};  ///< For people.
  Rank self{};
  std::uint32_t ranks = 1;
};

/// The last calls of one rank of one communicator.
///
/// It is written by one thread at a time, who waits for nobody, at a few nanoseconds a call, and
/// may be read at any moment by other threads and by signal handlers. So it is always on: when
/// something has gone wrong, it is too late to switch it on.
class FlightRecorder {
 public:
  static constexpr std::size_t usual_records = 256;

  explicit FlightRecorder(FlightOwner owner, std::size_t records = usual_records);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// `site` is the caller's own word for the place of the call.
  void begin(std::uint64_t number, const FlightCall& call, std::string_view site = {}) {
    if (next_ == fresh_) make_slot();
    current_ = next_;
    next_ = next_ + 1 == end_ ? slots_ : next_ + 1;
    current_->begin(turns_++, number, call, site, ticks());
  }

  /// Of several calls that overlap, each is begun and ended by its handle.
  struct Handle {
    FlightSlot* slot = nullptr;
    std::uint64_t turn = 0;
  };
  [[nodiscard]] Handle begin_one(std::uint64_t number, const FlightCall& call,
                                 std::string_view site) {
    begin(number, call, site);
    return {.slot = current_, .turn = turns_ - 1};
  }
  /// One that others have long written over is left as it is.
  void end_one(const Handle& handle, bool is_well);

  // Of the call that was begun last. Requires: one was; but something can fail before any call.

  void end() { current_->end(ticks()); }
  /// Also between calls, of none of which it is then said. Of several reasons the first is kept.
  void fail(std::string_view why);
  void note_wait(const FlightRecord::Wait& wait) { current_->note_wait(wait); }

  // For everybody, at any moment.

  [[nodiscard]] const FlightOwner& owner() const { return owner_; }
  /// Why the first call failed that did; empty if none has. Cut where it is very long.
  [[nodiscard]] std::string_view failure() const;
  [[nodiscard]] std::optional<FlightRecord> latest() const;
  /// The collective of that number, if it is not too long ago.
  [[nodiscard]] std::optional<FlightRecord> find(std::uint64_t number) const;
  /// Oldest first. What the writer is just writing over is left out.
  [[nodiscard]] std::vector<FlightRecord> all() const;

  /// Calls visit(record) for each, oldest first. Allocates nothing: for signal handlers, too.
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
  /// How many calls were begun, as far as can be seen.
  [[nodiscard]] std::uint64_t seen_turns() const;
  [[nodiscard]] std::optional<FlightRecord> read(std::uint64_t turn, const TickScale& scale) const;

  static constexpr std::size_t most_failure_bytes = 1000;

  FlightOwner owner_;
  TickMoment created_;
  std::size_t records_;
  // Most communicators make few calls, so memory is touched only as slots are needed.
  FlightSlot* slots_ = nullptr;
  std::atomic<std::size_t> made_{0};
  std::array<char, most_failure_bytes> failure_{};
  std::atomic<std::size_t> failure_bytes_{0};

  // The writer's own:
  FlightSlot* current_ = nullptr;
  FlightSlot* next_ = nullptr;
  FlightSlot* fresh_ = nullptr;  // The first that is not made yet; the end if all are.
  FlightSlot* end_ = nullptr;
  std::uint64_t turns_ = 0;
};

}  // namespace tutti
