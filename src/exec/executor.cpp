#include "exec/executor.hpp"

#include <algorithm>
#include <cstring>

#include <tutti/error.hpp>

namespace tutti {

Executor::Executor(Transport& transport, std::uint32_t ranks, std::size_t slice_bytes)
    : transport_(transport), slice_bytes_(slice_bytes), send_turns_(ranks), receive_turns_(ranks) {}

void Executor::run(const Plan& plan, const Buffers& buffers, Fold fold, std::size_t element_bytes,
                   Clock::time_point deadline) {
  plan_ = &plan;
  buffers_ = buffers;
  fold_ = fold;
  element_bytes_ = element_bytes;
  start(plan);
  copy(plan.before);
  bool aside_done = plan.aside.empty();

  // Operations are in order of rounds, so the first unfinished ones are those that others wait for.
  constexpr std::size_t window = 64;
  const auto count = static_cast<std::uint32_t>(plan.operations.size());
  std::uint32_t first = 0;
  std::uint32_t idle = 0;
  while (first < count) {
    bool moved = false;
    const auto last = static_cast<std::uint32_t>(std::min<std::size_t>(count, first + window));
    for (std::uint32_t id = first; id < last; ++id) {
      if (!states_[id].finished && advance(id)) moved = true;
    }
    while (first < count && states_[first].finished) ++first;
    if (moved) {
      idle = 0;
      continue;
    }
    if (!aside_done) {
      copy(plan.aside);
      aside_done = true;
      continue;
    }
    if (first < count) wait(++idle, deadline);
  }
  if (!aside_done) copy(plan.aside);
}

void Executor::start(const Plan& plan) {
  states_.assign(plan.operations.size(), State{});
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].piece = i == 0 ? 0 : plan.operations[i - 1].pieces_end;
  }
  send_begin_.resize(plan.peers.size());
  std::fill(send_turns_.begin(), send_turns_.end(), 0);
  std::fill(receive_turns_.begin(), receive_turns_.end(), 0);
}

bool Executor::advance(std::uint32_t id) {
  const Plan::Operation& operation = plan_->operations[id];
  State& state = states_[id];
  if (state.done < operation.bytes) {
    if (state.done == 0 && !is_turn(id)) return false;
    if (operation.kind == Step::Kind::send) return advance_send(id, operation, state);
    const bool copies = peers(id).size() == 1 && !operation.own;
    return copies ? advance_copy(id, operation, state) : advance_fold(id, operation, state);
  }
  state.finished = cleared(id) == operation.bytes;
  return state.finished;
}

bool Executor::advance_send(std::uint32_t id, const Plan::Operation& operation, State& state) {
  const Plan::Piece& piece = plan_->pieces[state.piece];
  const std::size_t left = piece.begin + piece.bytes - state.done;
  const std::size_t wanted = std::min(left, slice_bytes_);
  // Better to wait for a whole slice than to send crumbs.
  if (allowed(piece, state.piece, state.done) < wanted) return false;
  const std::span<const Plan::Peer> all = peers(id);
  ranks_.clear();
  for (const Plan::Peer& peer : all) ranks_.push_back(peer.rank);
  if (state.done == 0) {
    const auto begin = static_cast<std::size_t>(all.data() - plan_->peers.data());
    for (std::size_t k = 0; k < all.size(); ++k)
      send_begin_[begin + k] = transport_.sent(ranks_[k]);
  }
  const std::byte* const data = source(piece.from, piece.from_offset + (state.done - piece.begin));
  const std::size_t taken = transport_.send(ranks_, {data, wanted});
  if (taken == 0) return false;
  move_on(operation, state, taken);
  if (state.done == operation.bytes) {
    for (const Rank rank : ranks_) ++send_turns_[rank.index()];
    state.finished = cleared(id) == operation.bytes;
  }
  return true;
}

bool Executor::advance_copy(std::uint32_t id, const Plan::Operation& operation, State& state) {
  const Plan::Piece& piece = plan_->pieces[state.piece];
  const std::size_t most = std::min(allowed(piece, state.piece, state.done), slice_bytes_);
  if (most == 0) return false;
  const Rank peer = peers(id).front().rank;
  std::byte* const to = target(piece.to, piece.to_offset + (state.done - piece.begin));
  const std::size_t bytes = transport_.receive(peer, {to, most});
  if (bytes == 0) return false;
  move_on(operation, state, bytes);
  if (state.done == operation.bytes) {
    ++receive_turns_[peer.index()];
    state.finished = true;
  }
  return true;
}

bool Executor::advance_fold(std::uint32_t id, const Plan::Operation& operation, State& state) {
  const Plan::Piece& piece = plan_->pieces[state.piece];
  std::size_t bytes = std::min(piece.begin + piece.bytes - state.done, slice_bytes_);
  operands_.clear();
  const std::span<const Plan::Peer> all = peers(id);
  for (const Plan::Peer& peer : all) {
    const auto arrived = transport_.arrived(peer.rank);
    if (arrived.empty()) return false;
    bytes = std::min(bytes, arrived.size());
    operands_.push_back(arrived.data());
  }
  bytes = std::min(bytes, allowed(piece, state.piece, state.done));
  if (bytes == 0) return false;
  const std::size_t within = state.done - piece.begin;
  std::byte* const to = target(piece.to, piece.to_offset + within);
  if (operation.own) {
    operands_.insert(operands_.begin() + *operation.own,
                     source(piece.from, piece.from_offset + within));
  }
  fold_(to, nullptr, operands_.data(), operands_.size(), bytes / element_bytes_);
  for (const Plan::Peer& peer : all) transport_.consume(peer.rank, bytes);
  move_on(operation, state, bytes);
  if (state.done == operation.bytes) {
    for (const Plan::Peer& peer : all) ++receive_turns_[peer.rank.index()];
    state.finished = true;
  }
  return true;
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

/// How many bytes from position `at` on have everything that they wait for.
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

/// How many bytes of an operation are over and done with: received, or sent and no longer needed.
std::size_t Executor::cleared(std::uint32_t id) const {
  const State& state = states_[id];
  if (state.finished || plan_->operations[id].kind == Step::Kind::receive || state.done == 0) {
    return state.done;
  }
  std::size_t least = state.done;
  const std::span<const Plan::Peer> all = peers(id);
  const auto begin = static_cast<std::size_t>(all.data() - plan_->peers.data());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::uint64_t released = transport_.released(all[k].rank);
    const std::uint64_t start = send_begin_[begin + k];
    least = std::min<std::size_t>(least, released > start ? released - start : 0);
  }
  return least;
}

std::span<const Plan::Peer> Executor::peers(std::uint32_t id) const {
  const std::size_t begin = id == 0 ? 0 : plan_->operations[id - 1].peers_end;
  return {plan_->peers.data() + begin, plan_->operations[id].peers_end - begin};
}

const std::byte* Executor::source(Buffer buffer, std::size_t offset) const {
  return buffer == Buffer::input ? buffers_.input + offset : target(buffer, offset);
}

std::byte* Executor::target(Buffer buffer, std::size_t offset) const {
  switch (buffer) {
    case Buffer::output:
      return buffers_.output + offset;
    case Buffer::scratch:
      return buffers_.scratch + offset;
    case Buffer::input:
    case Buffer::spare:
      break;
  }
  return buffers_.spare + offset;
}

void Executor::copy(std::span<const Plan::Copy> copies) const {
  for (const Plan::Copy& each : copies) {
    std::memcpy(target(each.to, each.to_offset), source(each.from, each.from_offset), each.bytes);
  }
}

void Executor::wait(std::uint32_t idle, Clock::time_point deadline) {
  // Looking at the clock costs as much as a message.
  constexpr std::uint32_t looks_between = 1024;
  if (idle % looks_between == 0 && Clock::now() > deadline) {
    throw Error(ErrorCode::timed_out, "the collective is not done at its deadline");
  }
  transport_.wait(idle, deadline);
}

}  // namespace tutti
