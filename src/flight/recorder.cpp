#include "flight/recorder.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>

namespace tutti {

FlightRecorder::FlightRecorder(FlightOwner owner, std::size_t records)
    : owner_(std::move(owner)), created_(TickMoment::now()), records_(records) {}

static_assert(std::is_trivially_destructible_v<FlightSlot>);

void FlightRecorder::make_slot() {
  if (slots_ == nullptr) {
    // Not by an aligned operator new: in glibc an aligned block does not fit where an equal one was
    // freed, so that memory grows as communicators come and go.
    std::size_t bytes = records_ * sizeof(FlightSlot) + alignof(FlightSlot);
    memory_.reset(new std::byte[bytes]);
    void* place = memory_.get();
    std::align(alignof(FlightSlot), records_ * sizeof(FlightSlot), place, bytes);
    slots_ = next_ = fresh_ = static_cast<FlightSlot*>(place);
    end_ = slots_ + records_;
  }
  new (fresh_++) FlightSlot;
  made_.fetch_add(1, std::memory_order_release);
}

void FlightRecorder::end_one(const Handle& handle, bool is_well) {
  if (handle.slot->turn() != handle.turn) return;
  if (is_well) {
    handle.slot->end(ticks());
  } else {
    handle.slot->fail(ticks());
  }
}

void FlightRecorder::note_failure(std::string_view why) {
  if (failure_bytes_.load(std::memory_order_relaxed) > 0) return;
  why = why.substr(0, most_failure_bytes);
  failure_.reset(new (std::nothrow) char[why.size()]);
  if (!failure_) return;
  std::copy(why.begin(), why.end(), failure_.get());
  failure_bytes_.store(why.size(), std::memory_order_release);
}

std::string_view FlightRecorder::failure() const {
  const std::size_t bytes = failure_bytes_.load(std::memory_order_acquire);
  return bytes == 0 ? std::string_view() : std::string_view(failure_.get(), bytes);
}

std::uint64_t FlightRecorder::seen_turns() const {
  const std::size_t made = made_.load(std::memory_order_acquire);
  std::uint64_t turns = 0;
  for (std::size_t i = 0; i < made; ++i) {
    if (const auto turn = slots_[i].turn()) turns = std::max(turns, *turn + 1);
  }
  return turns;
}

std::optional<FlightRecord> FlightRecorder::read(std::uint64_t turn, const TickScale& scale) const {
  const auto found = slots_[turn % records_].read(turn);
  if (!found) return std::nullopt;
  // A call without a time is just beginning, unless that failed.
  const std::uint64_t begun = found->begun != 0   ? found->begun
                              : found->ended != 0 ? found->ended
                                                  : ticks();
  return FlightRecord{.number = found->number,
                      .call = found->call,
                      .site = found->site,
                      .begun_ns = scale.nanoseconds(begun),
                      .ended_ns = found->ended == 0 ? 0 : scale.nanoseconds(found->ended),
                      .state = found->state,
                      .wait = found->wait};
}

std::optional<FlightRecord> FlightRecorder::latest() const {
  // Retry if the writer has overwritten the record meanwhile. A whole ring takes it long.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint64_t turns = seen_turns();
    const TickScale scale(created_, TickMoment::now());
    // The newest record may be half written; then return the one before it.
    for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(turns, 2); ++back) {
      if (const auto record = read(turns - back, scale)) return record;
    }
  }
  return std::nullopt;
}

std::optional<FlightRecord> FlightRecorder::find(std::uint64_t number) const {
  std::optional<FlightRecord> found;
  visit_all([&](const FlightRecord& record) {
    if (record.number == number && collective_of(record.call.kind)) found = record;
  });
  return found;
}

std::vector<FlightRecord> FlightRecorder::all() const {
  std::vector<FlightRecord> records;
  visit_all([&](const FlightRecord& record) { records.push_back(record); });
  return records;
}

}  // namespace tutti
