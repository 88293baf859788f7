#pragma once

// The parts of an executor that are run once per message: they are inlined where messages are sent
// and received.
#include <algorithm>
#include <optional>
#include <vector>

#include "exec/executor.hpp"

namespace tutti {

/// The next bytes of a send.
inline void Executor::fill(Port::Send& send, std::uint32_t id, std::size_t bytes) {
  send.peers = ranks(id);
  send.data = {next_source(id), bytes};
  send.message = operation(id).bytes;
}

/// Where the port may move the next bytes of a receive by itself. Nowhere if they are folded.
inline std::span<std::byte> Executor::landing(std::uint32_t id, std::byte* to, std::size_t most) {
  const bool copies = ranks(id).size() == 1 && !operation(id).own;
  return copies ? std::span(to, most) : std::span<std::byte>{};
}

inline void Executor::have_operands(std::size_t count) {
  if (operand_memory_.size() < count) operand_memory_.resize(count);
  operands_ = std::span(operand_memory_).first(count);
}

/// Where the addresses of the data of the peers belong: after the rank's own operand, unless that
/// is the last one or there is none.
inline const void** Executor::make_room(std::uint32_t id) {
  const std::optional<std::uint32_t> own = operation(id).own;
  const std::size_t peers = ranks(id).size();
  have_operands(peers + (own ? 1 : 0));
  if (!own) return operands_.data();
  const bool is_last = *own == peers;
  operands_[is_last ? peers : 0] = next_source(id);
  return operands_.data() + (is_last ? 0 : 1);
}

/// Moves the rank's own operand to its place among those of the peers, which are there by now.
inline void Executor::place_own(std::uint32_t id) {
  const std::optional<std::uint32_t> own = operation(id).own;
  if (!own || *own == 0 || *own == ranks(id).size()) return;
  std::rotate(operands_.begin(), operands_.begin() + 1, operands_.begin() + *own + 1);
}

/// True if that was the rest of the operation.
inline bool Executor::move_on(std::uint32_t id, std::size_t bytes) {
  State& state = states_[id];
  state.done += bytes;
  if (state.done == operation(id).bytes) return true;
  const Plan::Piece& piece = this->piece(id);
  if (state.done == piece.begin + piece.bytes) ++state.piece;
  return false;
}

/// Records where a send begins in the streams to its receivers.
inline void Executor::note_begin(std::uint32_t send) {
  const std::size_t begin = operation(send).peers.begin;
  const std::span<const Rank> to = ranks(send);
  for (std::size_t k = 0; k < to.size(); ++k) {
    send_begin_[begin + k] = counters_->peers[to[k]].bytes_sent;
  }
}

/// The next operation with these peers may begin.
inline void Executor::note_turn(std::uint32_t id) {
  const bool sends = operation(id).kind == Step::Kind::send;
  std::vector<std::uint32_t>& turns = sends ? send_turns_ : receive_turns_;
  for (const Rank rank : ranks(id)) ++turns[rank];
}

inline void Executor::note_sent(std::uint32_t id, std::size_t bytes) {
  if (!is_recorded_) return;
  if (states_[id].done == 0) note_begin(id);
  const bool is_over = move_on(id, bytes);
  const bool counts = is_over && is_first_part_ && operation(id).begins_message;
  for (const Rank rank : ranks(id)) {
    PeerCounters& counted = counters_->peers[rank];
    counted.bytes_sent += bytes;
    ++counted.slices_sent;
    counted.messages_sent += counts ? 1 : 0;
  }
  if (!is_over || is_in_order_) return;
  note_turn(id);
  states_[id].finished = is_released(id);
}

/// `moved`: how many more bytes of the result are there.
inline void Executor::note_received(std::uint32_t id, std::size_t bytes, std::size_t moved) {
  if (!is_recorded_) return;
  const bool is_over = states_[id].finished = move_on(id, moved);
  const bool counts = is_over && is_first_part_ && operation(id).begins_message;
  for (const Rank rank : ranks(id)) {
    PeerCounters& counted = counters_->peers[rank];
    counted.bytes_received += bytes;
    ++counted.slices_received;
    counted.messages_received += counts ? 1 : 0;
  }
  if (is_over && !is_in_order_) note_turn(id);
}

}  // namespace tutti
