#include "exec/executor.hpp"

#include <algorithm>
#include <cstring>

#include <tutti/error.hpp>

#include "core/short_copy.hpp"

namespace tutti {
Executor::Executor(Port& port, Alarm& alarm, std::uint32_t ranks, std::size_t slice_bytes)
    : port_(port),
      alarm_(alarm),
      most_enclosed_(port.most_enclosed()),
      slice_bytes_(slice_bytes),
      send_turns_(ranks),
      receive_turns_(ranks) {}

void Executor::run(const Plan& plan, const Buffers& buffers, const Folding& folding,
                   Clock::duration timeout, Counters& counters, bool is_first_part) {
  plan_ = &plan;
  buffers_ = buffers;
  folding_ = folding;
  timeout_ = timeout;
  deadline_ = Clock::time_point::max();
  counters_ = &counters;
  is_first_part_ = is_first_part;
  aside_done_ = plan.aside.empty();
  is_straight_ =
      !plan.straight.empty() && (plan.longest <= Plan::longest_short || shares_all_it_sends());
  send_begin_.resize(plan.peers.size());
  if (!plan.exposures.empty() && !(is_straight_ && plan.exposes_in_bundle)) note_positions();
  if (!plan.before.empty()) copy(plan.before);
  const bool is_enclosed = is_straight_ && plan.longest <= most_enclosed_;
  if (is_straight_ && (is_enclosed ? run_enclosed() : run_straight())) return;
  // What was sent on the short path is released, wherever in the stream it is.
  if (is_enclosed) send_begin_.assign(plan.peers.size(), 0);
  start(plan);
  if (is_straight_) continue_straight();
  run_together();
}

void Executor::run_together() {
  const Plan& plan = *plan_;
  // Operations are in order of time, so other ranks wait for the first unfinished ones.
  constexpr std::size_t window = 64;
  const auto count = static_cast<std::uint32_t>(plan.operations.size());
  std::uint32_t first = 0;
  std::uint32_t idle = 0;
  while (first < count) {
    bool moved = false;
    std::uint32_t id = first;
    const auto last = static_cast<std::uint32_t>(std::min<std::size_t>(count, first + window));
    for (; id < last; ++id) {
      if (!states_[id].finished && advance(id)) moved = true;
    }
    // Both ends of a message have the same time, at any position. If the sends come first, the
    // operation that a peer waits for may be beyond the window.
    for (; !moved && id < count && plan.operations[id].time == plan.operations[first].time; ++id) {
      if (!states_[id].finished && advance(id)) moved = true;
    }
    while (first < count && states_[first].finished) ++first;
    if (moved) {
      idle = 0;
      continue;
    }
    if (copy_aside()) continue;
    if (first < count) wait(++idle);
  }
  (void)copy_aside();
}

/// Makes the copies that no operation depends on.
void Executor::make_aside_copies() {
  copy(plan_->aside);
  aside_done_ = true;
}

void Executor::start(const Plan& plan) {
  states_.assign(plan.operations.size(), State{});
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].piece = i == 0 ? 0 : plan.operations[i - 1].pieces_end;
  }
  // On the first call, although it may be a later one that finds windows.
  windows_.reserve(std::min(plan.ranks.size(), send_turns_.size()));
  if (!plan.has_turns) return;
  std::fill(send_turns_.begin(), send_turns_.end(), 0);
  std::fill(receive_turns_.begin(), receive_turns_.end(), 0);
}

// Long plans ------------------------------------------------------------------------------------

bool Executor::advance(std::uint32_t id) {
  const Plan::Operation& operation = plan_->operations[id];
  State& state = states_[id];
  if (state.done < operation.bytes) {
    if (operation.kind == Step::Kind::local) return advance_local(operation, state);
    if (state.done == 0 && plan_->has_turns && !is_turn(id)) return false;
    if (operation.kind == Step::Kind::send) return advance_send(id, operation, state);
    const bool copies = peers(id).size() == 1 && !operation.own;
    return copies ? advance_copy(id, operation, state) : advance_fold(id, operation, state);
  }
  state.finished = is_released(id);
  return state.finished;
}

bool Executor::advance_send(std::uint32_t id, const Plan::Operation& operation, State& state) {
  const Plan::Piece& piece = plan_->pieces[state.piece];
  const std::size_t left = piece.begin + piece.bytes - state.done;
  const std::size_t wanted = std::min(left, slice_bytes_);
  // Wait for a whole slice instead of sending small fragments.
  if (allowed(piece, state.piece, state.done) < wanted) return false;
  note_receivers(id, state);
  allow_single_copy(operation);
  const std::byte* const data = source(piece.from, piece.from_offset + (state.done - piece.begin));
  const std::size_t taken = port_.send(ranks(id), {data, wanted});
  if (taken == 0) return false;
  note_sent(id, operation, state, taken);
  return true;
}

/// By the length of the whole message: slices are shorter.
void Executor::allow_single_copy(const Plan::Operation& send) {
  const bool is_allowed = send.bytes >= single_copy_from_;
  if (is_allowed == allows_single_copy_) return;
  port_.allow_single_copy(is_allowed);
  allows_single_copy_ = is_allowed;
}

/// At the first slice of a send: records the positions of its receivers' streams, and exposes the
/// window that goes with it.
void Executor::note_receivers(std::uint32_t id, const State& state) {
  if (state.done > 0) return;
  if (plan_->operations[id].exposes) expose(plan_->operations[id]);
  const std::size_t begin = first_peer(id);
  const std::span<const Rank> all = ranks(id);
  for (std::size_t k = 0; k < all.size(); ++k) send_begin_[begin + k] = port_.sent(all[k]);
}

void Executor::note_sent(std::uint32_t id, const Plan::Operation& operation, State& state,
                         std::size_t bytes) {
  move_on(operation, state, bytes);
  const bool over = state.done == operation.bytes;
  for (const Rank rank : ranks(id)) {
    PeerCounters& counted = counters_->peers[rank.index()];
    counted.bytes_sent += bytes;
    ++counted.slices_sent;
    if (!over) continue;
    counted.messages_sent += messages_in(operation);
    ++send_turns_[rank.index()];
  }
  if (over) state.finished = is_released(id);
}

bool Executor::advance_copy(std::uint32_t id, const Plan::Operation& operation, State& state) {
  const Plan::Piece& piece = plan_->pieces[state.piece];
  const std::size_t most = std::min(allowed(piece, state.piece, state.done), slice_bytes_);
  if (most == 0) return false;
  const Rank peer = peers(id).front().rank;
  std::byte* const to = target(piece.to, piece.to_offset + (state.done - piece.begin));
  const std::size_t bytes = port_.receive(peer, {to, most});
  if (bytes == 0) return false;
  note_received(id, operation, state, bytes);
  return true;
}

bool Executor::advance_fold(std::uint32_t id, const Plan::Operation& operation, State& state) {
  const Plan::Piece& piece = plan_->pieces[state.piece];
  const std::span<const Rank> from = ranks(id);
  operands_.resize(from.size());
  std::size_t bytes = std::min(piece.begin + piece.bytes - state.done, slice_bytes_);
  bytes = std::min(bytes, port_.arrived_from_each(from, operands_));
  if (bytes == 0) return false;
  bytes = std::min(bytes, allowed(piece, state.piece, state.done));
  if (bytes == 0) return false;
  const std::size_t within = state.done - piece.begin;
  if (operation.own) {
    operands_.insert(operands_.begin() + *operation.own,
                     source(piece.from, piece.from_offset + within));
  }
  std::byte* const to = target(piece.to, piece.to_offset + within);
  const Forward forward = find_forward(operation, state, {to, bytes});
  if (forward == Forward::put) {
    fold_to_windows(to, bytes);
  } else {
    fold(to, forward == Forward::copy ? windows_.front() : nullptr, bytes);
  }
  port_.consume_from_each(from, bytes);
  if (forward != Forward::none) {
    const std::uint32_t next = *operation.forward;
    if (forward == Forward::put) {
      put(next, bytes);
    } else {
      port_.commit(ranks(next), bytes);
    }
    note_sent(next, plan_->operations[next], states_[next], bytes);
  }
  note_received(id, operation, state, bytes);
  return true;
}

bool Executor::advance_local(const Plan::Operation& operation, State& state) {
  const Plan::Piece& piece = plan_->pieces[state.piece];
  const std::size_t bytes = std::min(allowed(piece, state.piece, state.done), slice_bytes_);
  if (bytes == 0) return false;
  const std::size_t within = state.done - piece.begin;
  std::byte* const to = target(piece.to, piece.to_offset + within);
  const std::size_t nth_piece = state.piece - first_piece(operation);
  const Plan::Source* const sources =
      plan_->sources.data() + operation.first_source + nth_piece * operation.operands;
  operands_.clear();
  for (std::uint32_t k = 0; k < operation.operands; ++k) {
    operands_.push_back(source(sources[k].buffer, sources[k].offset + within));
  }
  if (operands_.size() == 1) {
    std::memcpy(to, operands_.front(), bytes);
  } else {
    fold(to, nullptr, bytes);
  }
  move_on(operation, state, bytes);
  state.finished = state.done == operation.bytes;
  return true;
}

/// How the data that a receive is about to write at `to` is forwarded in the same pass, so that it
/// is not read again. The addresses to write to are in windows_.
Executor::Forward Executor::find_forward(const Plan::Operation& operation, const State& state,
                                         std::span<const std::byte> to) {
  if (!operation.forward || folding_.combine != nullptr) return Forward::none;
  const std::uint32_t next = *operation.forward;
  const State& forward = states_[next];
  if (forward.done != state.done) return Forward::none;
  if (forward.done == 0 && plan_->has_turns && !is_turn(next)) {
    // Sends that come before it in the stream may be possible by now.
    const auto id = static_cast<std::uint32_t>(&operation - plan_->operations.data());
    for (std::uint32_t i = id + 1; i < next; ++i) {
      if (plan_->operations[i].kind == Step::Kind::send && !states_[i].finished) (void)advance(i);
    }
    if (!is_turn(next)) return Forward::none;
  }
  note_receivers(next, forward);
  if (find_windows(operation, to.size())) return Forward::put;
  // Staged data is not sent in small fragments.
  const bool whole = to.size() == slice_bytes_ || state.done + to.size() == operation.bytes;
  if (!whole) return Forward::none;
  allow_single_copy(plan_->operations[next]);
  windows_.assign(1, port_.reserve(ranks(next), to));
  return windows_.front() == nullptr ? Forward::none : Forward::copy;
}

void Executor::note_received(std::uint32_t id, const Plan::Operation& operation, State& state,
                             std::size_t bytes) {
  move_on(operation, state, bytes);
  state.finished = state.done == operation.bytes;
  for (const Plan::Peer& peer : peers(id)) {
    PeerCounters& counted = counters_->peers[peer.rank.index()];
    counted.bytes_received += bytes;
    ++counted.slices_received;
    if (!state.finished) continue;
    ++receive_turns_[peer.rank.index()];
    counted.messages_received += messages_in(operation);
  }
}

void Executor::fold(std::byte* to, std::byte* copy, std::size_t bytes) {
  const std::size_t count = folding_.count(bytes);
  if (folding_.combine == nullptr) {
    folding_.fold(to, copy, operands_.data(), operands_.size(), count);
    return;
  }
  // Left to right. If `to` aliases a later operand, it must not be overwritten before it is read.
  const bool overwrites = std::find(operands_.begin() + 1, operands_.end(), to) != operands_.end();
  const std::size_t lines = (bytes + sizeof(CacheLine) - 1) / sizeof(CacheLine);
  if (overwrites && accumulator_.size() < lines) accumulator_.resize(lines);
  std::byte* const sum = overwrites ? accumulator_.front().bytes : to;
  if (operands_.front() != sum) std::memcpy(sum, operands_.front(), bytes);
  for (std::size_t i = 1; i < operands_.size(); ++i) (*folding_.combine)(sum, operands_[i], count);
  if (overwrites) std::memcpy(to, sum, bytes);
}

void Executor::move_on(const Plan::Operation& operation, State& state, std::size_t bytes) {
  state.done += bytes;
  const Plan::Piece& piece = plan_->pieces[state.piece];
  if (state.done == piece.begin + piece.bytes && state.done < operation.bytes) ++state.piece;
}

bool Executor::is_turn(std::uint32_t id) const {
  const bool sends = plan_->operations[id].kind == Step::Kind::send;
  const std::vector<std::uint32_t>& turns = sends ? send_turns_ : receive_turns_;
  const std::span<const Plan::Peer> all = peers(id);
  return std::all_of(all.begin(), all.end(),
                     [&](const Plan::Peer& peer) { return turns[peer.rank.index()] == peer.turn; });
}

/// The number of bytes from position `at` whose dependences are satisfied.
std::size_t Executor::allowed(const Plan::Piece& piece, std::uint32_t index, std::size_t at) const {
  const std::size_t begin = index == 0 ? 0 : plan_->pieces[index - 1].waits_end;
  std::size_t bytes = piece.begin + piece.bytes - at;
  for (std::size_t i = begin; i < piece.waits_end; ++i) {
    const Plan::Wait& wait = plan_->waits[i];
    const auto need = static_cast<std::int64_t>(at) + wait.shift;
    const auto have = static_cast<std::int64_t>(cleared(wait.operation));
    if (have <= need) return 0;
    bytes = std::min(bytes, static_cast<std::size_t>(have - need));
  }
  return bytes;
}

/// The number of bytes of an operation that are complete: received, or sent and released.
std::size_t Executor::cleared(std::uint32_t id) const {
  const State& state = states_[id];
  if (state.finished || plan_->operations[id].kind != Step::Kind::send || state.done == 0) {
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
  const std::size_t begin = first_peer(id);
  std::size_t least = plan_->operations[id].bytes;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::uint64_t released = port_.released(all[k]);
    const std::uint64_t start = send_begin_[begin + k];
    least = std::min<std::size_t>(least, released > start ? released - start : 0);
  }
  return least;
}

void Executor::copy(std::span<const Plan::Copy> copies) const {
  for (const Plan::Copy& each : copies) {
    std::memcpy(target(each.to, each.to_offset), source(each.from, each.from_offset), each.bytes);
  }
}

}  // namespace tutti
