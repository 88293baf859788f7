#include "exec/executor.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <tutti/error.hpp>

#include "exec/executor-inl.hpp"

namespace tutti {
namespace {

/// How many polls find nothing before operations are no longer run in order.
constexpr std::uint32_t longest_in_order_wait = 64;

std::size_t lines_of(std::size_t bytes) {
  return (bytes + sizeof(CacheLine) - 1) / sizeof(CacheLine);
}

}  // namespace

Executor::Executor(Port& port, Alarm& alarm, std::uint32_t ranks, std::size_t slice_bytes)
    : port_(port),
      alarm_(alarm),
      slice_bytes_(slice_bytes),
      send_turns_(ranks),
      receive_turns_(ranks),
      windows_(1) {}

void Executor::begin(const Plan& plan, const Buffers& buffers, const Folding& folding,
                     Clock::duration timeout, Counters& counters, bool is_first_part) {
  plan_ = &plan;
  bases_ = {const_cast<std::byte*>(buffers.input), buffers.output, buffers.scratch, buffers.spare};
  folding_ = &folding;
  timeout_ = timeout;
  counters_ = &counters;
  is_first_part_ = is_first_part;
  at_ = 0;
  aside_done_ = plan.aside.empty();
  is_outstanding_ = false;
  is_in_order_ = !plan.order.empty();
  if (is_recorded_) forget();
  count_ = plan.operations.size();
  if (states_.size() < count_) states_.resize(count_);
  if (batch_.size() < plan.order.size()) {
    batch_.resize(plan.order.size());
    posting_.resize(plan.order.size());
    windows_.resize(plan.order.size());
    forwarded_.reserve(plan.order.size());
  }
  // Also what only a later run may need, so that this does not depend on how long runs wait.
  if (send_begin_.size() < plan.peers.size()) send_begin_.resize(plan.peers.size());
  if (window_begin_.size() < plan.exposures.size()) window_begin_.resize(plan.exposures.size());
  // A port splits data at multiples of a cache line.
  splits_elements_ = folding.combine != nullptr && sizeof(CacheLine) % folding.element_bytes != 0;
  if (splits_elements_) {
    carried_.assign(receive_turns_.size(), 0);
    carry_.resize(carried_.size() * lines_of(folding.element_bytes));
  }
  if (!is_in_order_ || splits_elements_) record();
  if (!plan.before.empty()) copy(plan.before);
  const std::uint32_t sends = is_in_order_ ? plan.order.front().sends : 0;
  if (sends == 0) return;
  try {
    is_in_order_ = post_in_order(std::span(plan.order).first(sends));
    at_ = sends;
  } catch (...) {
    record();
    throw;
  }
}

void Executor::finish() {
  deadline_ = Clock::time_point::max();
  idle_ = 0;
  try {
    if (!is_in_order_ || !run_in_order()) run_freely();
    (void)copy_aside();
  } catch (...) {
    record();
    throw;
  }
  if (!is_recorded_) count_traffic();
}

// One after another -----------------------------------------------------------------------------

/// Runs the operations one after another. False if something is left to be done by run_freely():
/// one of them would have to wait while others may go on, since there is no room, its data does not
/// come, or a receiver still reads what is about to be overwritten; or something that was sent is
/// not released.
bool Executor::run_in_order() {
  const std::span<const Plan::OrderedStep> steps = plan_->order;
  while (at_ < steps.size()) {
    const Plan::OrderedStep& step = steps[at_];
    if (step.sends > 0) {
      if (!post_in_order(steps.subspan(at_, step.sends))) break;
      at_ += step.sends;
    } else {
      if (!receive_in_order(step)) break;
      ++at_;
    }
  }
  return at_ == steps.size() && await_release();
}

/// Makes the sends from a step of the plan's order on that are made together. False if the port did
/// not take all of them.
bool Executor::post_in_order(std::span<const Plan::OrderedStep> steps) {
  std::size_t count = 0;
  for (const Plan::OrderedStep& step : steps) {
    const std::uint32_t id = step.operation;
    if ((is_recorded_ || !forwarded_.empty()) && is_made(id)) continue;
    Port::Send& send = batch_[count];
    send.peers = step.peers.of(plan_->ranks);
    send.data = {source(step.buffer, step.offset), step.bytes};
    send.message = step.bytes;
    send.window = nullptr;
    if (step.exposes) announce(send, id, step.window_at, windows_[count]);
    posting_[count++] = id;
  }
  const Port::Posted posted = port_.post(std::span(batch_).first(count));
  is_outstanding_ = is_outstanding_ || posted.is_outstanding;
  const bool is_whole = posted.sends == count;
  if (!is_whole) record();
  if (is_recorded_) {
    for (const std::uint32_t id : std::span(posting_).first(posted.sends)) {
      note_sent(id, operation(id).bytes);
    }
    if (posted.bytes > 0) note_sent(posting_[posted.sends], posted.bytes);
  } else if (!forwarded_.empty()) {
    for (const Plan::OrderedStep& step : steps) std::erase(forwarded_, step.operation);
  }
  return is_whole;
}

/// True if a send was made with the fold that computed its data, before its turn in the order.
bool Executor::is_made(std::uint32_t send) const {
  if (is_recorded_) return states_[send].done > 0;
  return std::find(forwarded_.begin(), forwarded_.end(), send) != forwarded_.end();
}

/// False if the data is there, but may not be moved yet, or if it does not come for some time: its
/// sender may have no room because other data that has come is not read.
bool Executor::receive_in_order(const Plan::OrderedStep& step) {
  const std::uint32_t id = step.operation;
  const std::span<const Rank> from = step.peers.of(plan_->ranks);
  // What the peer has put into a window is in its place already.
  const bool only_if_put = step.overwrites_sent && is_outstanding_;
  // With nothing after it, there is nothing to go on with freely.
  const bool is_last = at_ + 1 == plan_->order.size();
  // The one after the next ones, which were named before.
  constexpr std::size_t ahead = 4;
  std::span<const Rank> next;
  if (const std::size_t later = at_ + ahead; later < plan_->order.size()) {
    next = ranks(plan_->order[later].operation).first(1);
  }
  // While the data travels.
  if (step.forwards && folding_->combine == nullptr) {
    fill_forward(id, target(step.buffer, step.offset), step.bytes, step.window_at);
  }
  do {
    const std::size_t done = states_[id].done;
    std::byte* const to = target(step.buffer, step.offset + done);
    const void** const operands = make_room(id);
    const std::size_t left = step.bytes - done - carried(id);
    const std::span<std::byte> into = only_if_put ? std::span<std::byte>{} : landing(id, to, left);
    std::size_t found = 0;
    while ((found = port_.poll(from, into, operands, std::exchange(next, {}))) == 0) {
      if (idle_ == longest_in_order_wait && !is_last) return false;
      if (!copy_aside()) wait();
    }
    if (only_if_put && *operands != to) return false;
    if (found < left) record();
    take(id, to, std::min(left, found));
    idle_ = 0;
  } while (is_recorded_ && states_[id].done < step.bytes);
  return true;
}

/// False if receivers do not release what was sent for some time.
bool Executor::await_release() {
  if (!is_outstanding_) return true;
  for (const Plan::Traffic& each : plan_->traffic) {
    while (each.counts.bytes_sent > 0 && port_.unreleased(each.peer) > 0) {
      if (idle_ == longest_in_order_wait) return false;
      if (!copy_aside()) wait();
    }
  }
  return true;
}

// As dependences allow --------------------------------------------------------------------------

void Executor::run_freely() {
  const Plan& plan = *plan_;
  record();
  is_in_order_ = false;
  if (plan.has_turns) count_turns();
  // Operations are in order of time, so other ranks wait for the first unfinished ones.
  constexpr std::size_t window = 64;
  const auto count = static_cast<std::uint32_t>(plan.operations.size());
  std::uint32_t first = 0;
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
      idle_ = 0;
    } else if (!copy_aside() && first < count) {
      wait();
    }
  }
}

bool Executor::advance(std::uint32_t id) {
  State& state = states_[id];
  const Step::Kind kind = operation(id).kind;
  if (state.done == operation(id).bytes) return state.finished = is_released(id);
  if (kind == Step::Kind::local) return advance_local(id);
  if (state.done == 0 && plan_->has_turns && !is_turn(id)) return false;
  return kind == Step::Kind::send ? advance_send(id) : advance_receive(id);
}

bool Executor::advance_send(std::uint32_t id) {
  const Plan::Piece& piece = this->piece(id);
  const std::size_t left = piece.begin + piece.bytes - states_[id].done;
  const std::size_t wanted = std::min(left, slice_bytes_);
  // Wait for a whole slice instead of sending small fragments.
  if (allowed(id) < wanted) return false;
  Port::Window window;
  Port::Send send;
  fill(send, id, wanted);
  if (operation(id).exposes) announce(send, id, window_at(id), window);
  const Port::Posted posted = port_.post({&send, 1});
  const std::size_t taken = posted.sends > 0 ? wanted : posted.bytes;
  if (taken == 0) return false;
  note_sent(id, taken);
  return true;
}

bool Executor::advance_receive(std::uint32_t id) {
  const std::size_t most = std::min(allowed(id) - carried(id), slice_bytes_);
  if (most == 0) return false;
  const std::span<const Rank> from = ranks(id);
  std::byte* const to = next_target(id);
  const std::size_t found = port_.poll(from, landing(id, to, most), make_room(id), {});
  if (found == 0) return false;
  take(id, to, std::min(most, found));
  return true;
}

bool Executor::advance_local(std::uint32_t id) {
  std::size_t bytes = std::min(allowed(id), slice_bytes_);
  if (splits_elements_) {
    const std::size_t element = folding_->element_bytes;
    bytes = std::min(allowed(id), std::max(slice_bytes_, element)) / element * element;
  }
  if (bytes == 0) return false;
  const Plan::Operation& operation = this->operation(id);
  const std::size_t within = states_[id].done - piece(id).begin;
  const Plan::Source* const sources =
      plan_->sources.data() + operation.first_source + states_[id].piece * operation.operands;
  have_operands(operation.operands);
  for (std::uint32_t k = 0; k < operation.operands; ++k) {
    operands_[k] = source(sources[k].buffer, sources[k].offset + within);
  }
  if (operands_.size() == 1) {
    memory_.copy(next_target(id), operands_.front(), bytes);
  } else {
    memory_.fold(*folding_, operands_, next_target(id), {}, bytes);
  }
  states_[id].finished = move_on(id, bytes);
  return true;
}

// Data ------------------------------------------------------------------------------------------

/// Takes bytes that have arrived: copies them to their place, or folds them with those of other
/// peers and the rank's own.
void Executor::take(std::uint32_t id, std::byte* to, std::size_t bytes) {
  const Plan::Operation& operation = this->operation(id);
  const std::span<const Rank> from = ranks(id);
  if (from.size() == 1 && !operation.own) {
    if (operands_.front() != to) memory_.copy(to, operands_.front(), bytes);
    port_.consume(from, bytes);
    return note_received(id, bytes, bytes);
  }
  if (splits_elements_) return take_split(id, bytes);
  place_own(id);
  const bool forwards = operation.forward && prepare_forward(id, to, bytes);
  const std::span<std::byte* const> copies(copies_.data(), forwards ? copies_.size() : 0);
  memory_.fold(*folding_, operands_, to, copies, bytes);
  port_.consume(from, bytes);
  note_received(id, bytes, bytes);
  if (forwards) post_forward(*operation.forward, bytes);
}

/// Like take(), for elements that slices may split: folds the whole ones, and keeps what has
/// arrived of the next one, so that the port can deliver the rest.
void Executor::take_split(std::uint32_t id, std::size_t bytes) {
  const std::span<const Rank> from = ranks(id);
  const std::size_t element = folding_->element_bytes;
  const std::size_t had = carried(id);
  pieces_.resize(from.size());
  const void** const arrived = make_room(id);
  for (std::size_t k = 0; k < from.size(); ++k) {
    pieces_[k] = static_cast<const std::byte*>(arrived[k]);
  }
  // Appends the next bytes of each peer to those that are kept.
  const auto keep = [&](std::size_t at, std::size_t some) {
    for (std::size_t k = 0; k < from.size(); ++k) {
      std::memcpy(carry_of(from[k]) + carried(id), pieces_[k] + at, some);
    }
    for (const Rank rank : from) carried_[rank] += some;
  };
  std::size_t folded = 0;
  std::size_t at = had > 0 ? std::min(element - had, bytes) : 0;
  if (at > 0) keep(0, at);
  if (carried(id) == element) {
    for (std::size_t k = 0; k < from.size(); ++k) arrived[k] = carry_of(from[k]);
    fold_arrived(id, 0, folded = element);
    for (const Rank rank : from) carried_[rank] = 0;
  }
  if (const std::size_t whole = (bytes - at) / element * element; whole > 0) {
    const void** const again = make_room(id);
    for (std::size_t k = 0; k < from.size(); ++k) again[k] = pieces_[k] + at;
    fold_arrived(id, folded, whole);
    at += whole;
    folded += whole;
  }
  if (at < bytes) keep(at, bytes - at);
  port_.consume(from, bytes);
  note_received(id, bytes, folded);
}

/// Folds the operands of a receive into its result, `after` bytes from the next one on.
void Executor::fold_arrived(std::uint32_t id, std::size_t after, std::size_t bytes) {
  place_own(id);
  if (operation(id).own) operands_[*operation(id).own] = next_source(id) + after;
  memory_.fold(*folding_, operands_, next_target(id) + after, {}, bytes);
}

std::byte* Executor::carry_of(Rank peer) {
  return carry_[peer * lines_of(folding_->element_bytes)].bytes;
}

/// Prepares the send that forwards what a receive is about to write at `to`, so that it is not read
/// again. False if the port cannot take it in the same pass. Where else to write it is in copies_.
bool Executor::prepare_forward(std::uint32_t receive, std::byte* to, std::size_t bytes) {
  if (!may_forward(receive) || (is_in_order_ && bytes < operation(receive).bytes)) return false;
  const std::uint32_t next = *operation(receive).forward;
  if (!is_in_order_) fill_forward(receive, to, bytes, 0);
  // Staged data is not sent in small fragments.
  const bool may_stage = !is_in_order_ && (bytes == slice_bytes_ ||
                                           states_[next].done + bytes == operation(receive).bytes);
  const std::size_t reading = operation(receive).answers ? bytes : 0;
  const Port::Copies copies = port_.prepare(forward_, reading, may_stage, copies_);
  if (copies == Port::Copies::put) counters_->bytes_put += bytes * forward_.peers.size();
  return forward_.is_prepared = copies != Port::Copies::none;
}

/// Fills the send that forwards what a receive will write at `to`.
void Executor::fill_forward(std::uint32_t receive, std::byte* to, std::size_t bytes,
                            std::uint64_t window_at) {
  const std::uint32_t next = *operation(receive).forward;
  forward_ = {};
  fill(forward_, next, bytes);
  forward_.data = {to, bytes};
  if (operation(next).exposes) announce(forward_, next, window_at, windows_.front());
}

/// Makes a prepared send, once the receive whose result it forwards is consumed.
void Executor::post_forward(std::uint32_t send, std::size_t bytes) {
  if (forward_.window != nullptr && !is_in_order_) windows_.front().at = window_at(send);
  const Port::Posted posted = port_.post({&forward_, 1});
  is_outstanding_ = is_outstanding_ || posted.is_outstanding;
  if (!is_recorded_) forwarded_.push_back(send);
  note_sent(send, bytes);
}

/// The window that goes with a send, if this is its beginning. Requires: there is one.
void Executor::announce(Port::Send& send, std::uint32_t id, std::uint64_t at,
                        Port::Window& window) {
  if (states_[id].done > 0) return;
  const Plan::Exposure& exposure = plan_->exposures[*operation(id).exposes];
  const Plan::Operation& receive = operation(exposure.receive);
  const Plan::Piece& piece = plan_->pieces[receive.pieces.begin];
  window = {.memory = {target(piece.to, piece.to_offset), receive.bytes},
            .at = at,
            .after = exposure.shift};
  send.window = &window;
}

/// Where the bytes of the window of a send are in the stream from the peer.
std::uint64_t Executor::window_at(std::uint32_t send) const {
  const std::uint32_t entry = *operation(send).exposes;
  const Rank peer = plan_->exposures[entry].peer;
  return window_begin_[entry] - counters_->peers[peer].bytes_received;
}

bool Executor::may_forward(std::uint32_t receive) {
  if (folding_->combine != nullptr) return false;
  if (is_in_order_) return plan_->order[at_].forwards;
  const std::uint32_t forward = *operation(receive).forward;
  if (states_[forward].done != states_[receive].done) return false;
  if (states_[forward].done > 0 || !plan_->has_turns || is_turn(forward)) return true;
  // Sends that come before it in the stream may be possible by now.
  for (std::uint32_t id = receive + 1; id < forward; ++id) {
    if (operation(id).kind == Step::Kind::send && !states_[id].finished) (void)advance(id);
  }
  return is_turn(forward);
}

void Executor::copy(std::span<const Plan::Copy> copies) {
  for (const Plan::Copy& each : copies) {
    memory_.copy(target(each.to, each.to_offset), source(each.from, each.from_offset), each.bytes);
  }
}

/// Makes the copies that no operation depends on. False if they were made before.
bool Executor::copy_aside() {
  if (aside_done_) return false;
  copy(plan_->aside);
  return aside_done_ = true;
}

}  // namespace tutti
