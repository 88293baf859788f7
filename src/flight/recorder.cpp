#include "flight/recorder.hpp"

#include <algorithm>

namespace tutti {

FlightRecorder::FlightRecorder(FlightOwner owner, std::size_t records)
    : owner_(std::move(owner)), created_(TickMoment::now()), records_(records) {}

FlightRecorder::~FlightRecorder() { delete[] slots_.load(std::memory_order_relaxed); }

void FlightRecorder::make_slots() {
  auto* const slots = new FlightSlot[records_];
  next_ = slots;
  end_ = slots + records_;
  slots_.store(slots, std::memory_order_release);
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
  const FlightSlot* const slots = slots_.load(std::memory_order_acquire);
  if (slots == nullptr) return 0;
  std::uint64_t turns = 0;
  for (std::size_t i = 0; i < records_; ++i) {
    if (const auto turn = slots[i].turn()) turns = std::max(turns, *turn + 1);
  }
  return turns;
}

std::optional<FlightRecord> FlightRecorder::read(std::uint64_t turn, const TickScale& scale) const {
  const auto found = slots_.load(std::memory_order_acquire)[turn % records_].read(turn);
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
  // Who is overtaken looks again; the writer needs long for a whole ring.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint64_t turns = seen_turns();
    const TickScale scale(created_, TickMoment::now());
    // The newest may be half written, and then the one before it is the latest.
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
