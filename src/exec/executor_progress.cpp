// What of a run is done, and what may be done next.
#include <algorithm>
#include <utility>

#include "exec/executor-inl.hpp"

namespace tutti {

/// Begins to keep the states and the counters, and makes up for what was run in order.
void Executor::record() {
  if (std::exchange(is_recorded_, true)) return;
  const Plan& plan = *plan_;
  for (std::size_t i = 0; i < plan.exposures.size(); ++i) {
    const Plan::Exposure& each = plan.exposures[i];
    window_begin_[i] = counters_->peers[each.peer].bytes_received + each.before;
  }
  const auto make_up = [this](std::uint32_t id) {
    const Plan::Operation& operation = this->operation(id);
    if (operation.kind == Step::Kind::send) return note_sent(id, operation.bytes);
    note_received(id, operation.bytes, operation.bytes);
  };
  for (std::size_t i = 0; i < at_; ++i) make_up(plan.order[i].operation);
  for (const std::uint32_t id : forwarded_) make_up(id);
  forwarded_.clear();
}

void Executor::forget() {
  std::fill_n(states_.begin(), count_, State{});
  is_recorded_ = false;
}

/// Adds to the counters what a whole plan does that was run in order.
void Executor::count_traffic() {
  for (const Plan::Traffic& each : plan_->traffic) {
    PeerCounters& counted = counters_->peers[each.peer];
    counted.bytes_sent += each.counts.bytes_sent;
    counted.bytes_received += each.counts.bytes_received;
    counted.slices_sent += each.counts.slices_sent;
    counted.slices_received += each.counts.slices_received;
    if (!is_first_part_) continue;
    counted.messages_sent += each.counts.messages_sent;
    counted.messages_received += each.counts.messages_received;
  }
}

/// Some operations may have been run in order.
void Executor::count_turns() {
  std::fill(send_turns_.begin(), send_turns_.end(), 0);
  std::fill(receive_turns_.begin(), receive_turns_.end(), 0);
  for (std::uint32_t id = 0; id < plan_->operations.size(); ++id) {
    if (states_[id].done == operation(id).bytes) note_turn(id);
  }
}

bool Executor::is_turn(std::uint32_t id) const {
  if (is_in_order_) return true;
  const bool sends = operation(id).kind == Step::Kind::send;
  const std::vector<std::uint32_t>& turns = sends ? send_turns_ : receive_turns_;
  const std::span<const Plan::Peer> all = operation(id).peers.of(plan_->peers);
  return std::all_of(all.begin(), all.end(),
                     [&](const Plan::Peer& peer) { return turns[peer.rank] == peer.turn; });
}

/// The number of bytes of the current piece, from the next one on, whose dependences are satisfied.
std::size_t Executor::allowed(std::uint32_t id) const {
  const State& state = states_[id];
  const Plan::Piece& piece = this->piece(id);
  std::size_t bytes = piece.begin + piece.bytes - state.done;
  for (const Plan::Wait& wait : piece.waits.of(plan_->waits)) {
    const auto need = static_cast<std::int64_t>(state.done) + wait.shift;
    const auto have = static_cast<std::int64_t>(cleared(wait.operation));
    if (have <= need) return 0;
    bytes = std::min(bytes, static_cast<std::size_t>(have - need));
  }
  return bytes;
}

/// The number of bytes of an operation that are complete: received, or sent and released.
std::size_t Executor::cleared(std::uint32_t id) const {
  const State& state = states_[id];
  if (state.finished || operation(id).kind != Step::Kind::send || state.done == 0) {
    return state.done;
  }
  return std::min(state.done, released(id));
}

/// True if all receivers have released all of a send. Looks no further than the first that has not:
/// it writes the line that says so, and would have to fetch it back.
bool Executor::is_released(std::uint32_t id) const {
  for (std::size_t k = 0; k < ranks(id).size(); ++k) {
    if (!is_released_by(id, k)) return false;
  }
  return true;
}

/// The number of bytes of a send that all its receivers have released.
std::size_t Executor::released(std::uint32_t id) const {
  const std::span<const Rank> all = ranks(id);
  const std::size_t begin = operation(id).peers.begin;
  std::size_t least = operation(id).bytes;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::uint64_t released = released_by(all[k]);
    const std::uint64_t start = send_begin_[begin + k];
    least = std::min<std::size_t>(least, released > start ? released - start : 0);
  }
  return least;
}

}  // namespace tutti
