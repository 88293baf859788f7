#include "flight/recorder.hpp"

#include <algorithm>
#include <new>
#include <type_traits>

namespace tutti {

FlightRecorder::FlightRecorder(FlightOwner owner, std::size_t records)
    : owner_(std::move(owner)), created_(TickMoment::now()), records_(records) {}

static_assert(std::is_trivially_destructible_v<FlightSlot>);

FlightRecorder::~FlightRecorder() {
  ::operator delete(slots_, std::align_val_t(alignof(FlightSlot)));
}

void FlightRecorder::make_slot() {
  if (slots_ == nullptr) {
    void* const memory =
        ::operator new(records_ * sizeof(FlightSlot), std::align_val_t(alignof(FlightSlot)));
    slots_ = next_ = fresh_ = static_cast<FlightSlot*>(memory);
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

void FlightRecorder::fail(std::string_view why) {
  if (current_ != nullptr && current_->is_running()) current_->fail(ticks());
  if (failure_bytes_.load(std::memory_order_relaxed) > 0) return;
  why = why.substr(0, most_failure_bytes);
  std::copy(why.begin(), why.end(), failure_.begin());
  failure_bytes_.store(why.size(), std::memory_order_release);
}

std::string_view FlightRecorder::failure() const {
  return {failure_.data(), failure_bytes_.load(std::memory_order_acquire)};
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
  return FlightRecord{.number = found->number,
                      .call = found->call,
                      .site = found->site,
                      .begun_ns = scale.nanoseconds(found->begun),
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
