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
  deadline_ = Clock::time_point::max();
  counters_ = &counters;
  is_first_part_ = is_first_part;
  start();
  if (!plan.before.empty()) copy(plan.before);
  is_in_order_ = !plan.order.empty() && plan.longest <= longest_in_order_;
  is_outstanding_ = false;
  at_ = 0;
  const std::uint32_t sends = is_in_order_ ? plan.order.front().sends : 0;
  if (sends == 0) return;
  if (post_in_order(std::span(plan.order).first(sends))) {
    at_ = sends;
  } else {
    is_in_order_ = false;
  }
}

void Executor::finish() {
  if (!is_in_order_ || !run_in_order()) run_freely();
  (void)copy_aside();
}

void Executor::start() {
  const Plan& plan = *plan_;
  idle_ = 0;
  aside_done_ = plan.aside.empty();
  const std::size_t count = plan.operations.size();
  if (states_.size() < count) states_.resize(count);
  std::fill_n(states_.data(), count, State{});
  if (send_begin_.size() < plan.peers.size()) send_begin_.resize(plan.peers.size());
  if (windows_.size() < plan.order.size()) windows_.resize(plan.order.size());
  // A port splits data at multiples of a cache line.
  splits_elements_ =
      folding_->combine != nullptr && sizeof(CacheLine) % folding_->element_bytes != 0;
  if (splits_elements_) {
    carried_.assign(receive_turns_.size(), 0);
    carry_.resize(carried_.size() * lines_of(folding_->element_bytes));
  }
  if (plan.exposures.empty()) return;
  window_begin_.resize(plan.exposures.size());
  for (std::size_t i = 0; i < window_begin_.size(); ++i) {
    const Plan::Exposure& each = plan.exposures[i];
    window_begin_[i] = counters_->peers[each.peer.index()].bytes_received + each.before;
  }
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
  is_in_order_ = at_ == steps.size() && !is_outstanding_;
  return is_in_order_;
}

/// Makes the sends from a step of the plan's order on that are made together. False if the port did
/// not take all of them.
bool Executor::post_in_order(std::span<const Plan::OrderedStep> steps) {
  batch_.clear();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint32_t id = steps[i].operation;
    if (states_[id].done > 0) continue;  // It was made with the fold that computed its data.
    note_begin(id);
    fill(batch_.emplace_back(), id, operation(id).bytes, windows_[i]);
  }
  const Port::Posted posted = port_.post(batch_);
  is_outstanding_ = is_outstanding_ || posted.is_outstanding;
  std::size_t taken = 0;
  for (const Plan::OrderedStep& step : steps) {
    const std::uint32_t id = step.operation;
    if (states_[id].done > 0) continue;
    if (taken++ == posted.sends) {
      if (posted.bytes > 0) note_sent(id, posted.bytes);
      return false;
    }
    note_sent(id, operation(id).bytes);
  }
  return true;
}

/// False if the data is there, but may not be moved yet, or if it does not come for some time: its
/// sender may have no room because other data that has come is not read.
bool Executor::receive_in_order(const Plan::OrderedStep& step) {
  const std::uint32_t id = step.operation;
  const std::size_t bytes = operation(id).bytes;
  const std::span<const Rank> from = ranks(id);
  // What the peer has put into a window is in its place already.
  const bool only_if_put = step.overwrites_sent && is_outstanding_;
  const void** const operands = make_room(id);
  // The one after the next ones, which were named before.
  constexpr std::size_t ahead = 4;
  std::span<const Rank> next;
  if (const std::size_t later = at_ + ahead; later < plan_->order.size()) {
    next = ranks(plan_->order[later].operation).first(1);
  }
  while (states_[id].done < bytes) {
    std::byte* const to = next_target(id);
    const std::size_t left = bytes - states_[id].done - carried(id);
    const std::span<std::byte> into = only_if_put ? std::span<std::byte>{} : landing(id, to, left);
    std::size_t found = 0;
    while ((found = port_.poll(from, into, operands, std::exchange(next, {}))) == 0) {
      if (idle_ == longest_in_order_wait) return false;
      if (!copy_aside()) wait();
    }
    if (only_if_put && *operands != to) return false;
    take(id, to, std::min(left, found));
    idle_ = 0;
  }
  return true;
}

// As dependences allow --------------------------------------------------------------------------

void Executor::run_freely() {
  const Plan& plan = *plan_;
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

/// Some operations may have been run in order.
void Executor::count_turns() {
  std::fill(send_turns_.begin(), send_turns_.end(), 0);
  std::fill(receive_turns_.begin(), receive_turns_.end(), 0);
  for (std::uint32_t id = 0; id < plan_->operations.size(); ++id) {
    if (states_[id].done == operation(id).bytes) note_turn(id);
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
  if (states_[id].done == 0) note_begin(id);
  Port::Window window;
  Port::Send send;
  fill(send, id, wanted, window);
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
  operands_.clear();
  for (std::uint32_t k = 0; k < operation.operands; ++k) {
    operands_.push_back(source(sources[k].buffer, sources[k].offset + within));
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
  place_own(id, 0);
  copies_.clear();
  const bool forwards = operation.forward && prepare_forward(id, to, bytes);
  memory_.fold(*folding_, operands_, to, copies_, bytes);
  port_.consume(from, bytes);
  if (forwards) {
    const Port::Posted posted = port_.post({&forward_, 1});
    is_outstanding_ = is_outstanding_ || posted.is_outstanding;
    note_sent(*operation.forward, bytes);
  }
  note_received(id, bytes, bytes);
}

/// Puts the rank's own operand, from `after` bytes after the next one on, among those of the peers.
void Executor::place_own(std::uint32_t id, std::size_t after) {
  if (!operation(id).own) return;
  const auto own = operands_.begin() + *operation(id).own;
  std::copy(operands_.begin() + 1, own + 1, operands_.begin());
  *own = next_source(id) + after;
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
    for (const Rank rank : from) carried_[rank.index()] += some;
  };
  std::size_t folded = 0;
  std::size_t at = had > 0 ? std::min(element - had, bytes) : 0;
  if (at > 0) keep(0, at);
  if (carried(id) == element) {
    for (std::size_t k = 0; k < from.size(); ++k) arrived[k] = carry_of(from[k]);
    fold_arrived(id, 0, folded = element);
    for (const Rank rank : from) carried_[rank.index()] = 0;
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
  place_own(id, after);
  memory_.fold(*folding_, operands_, next_target(id) + after, {}, bytes);
}

std::byte* Executor::carry_of(Rank peer) {
  return carry_[peer.index() * lines_of(folding_->element_bytes)].bytes;
}

/// Prepares the send that forwards what a receive is about to write at `to`, so that it is not read
/// again. False if the port cannot take it in the same pass. Where else to write it is in copies_.
bool Executor::prepare_forward(std::uint32_t receive, std::byte* to, std::size_t bytes) {
  if (!may_forward(receive) || (is_in_order_ && bytes < operation(receive).bytes)) return false;
  const std::uint32_t next = *operation(receive).forward;
  const State& state = states_[next];
  if (state.done == 0) note_begin(next);
  forward_ = {};
  fill(forward_, next, bytes, windows_.front());
  forward_.data = {to, bytes};
  // Staged data is not sent in small fragments.
  const bool may_stage =
      !is_in_order_ && (bytes == slice_bytes_ || state.done + bytes == operation(receive).bytes);
  const std::size_t reading = operation(receive).answers ? bytes : 0;
  const Port::Copies copies = port_.prepare(forward_, reading, may_stage, copies_);
  if (copies == Port::Copies::put) counters_->bytes_put += bytes * forward_.peers.size();
  forward_.is_prepared = copies != Port::Copies::none;
  if (!forward_.is_prepared) copies_.clear();
  return forward_.is_prepared;
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

// Progress --------------------------------------------------------------------------------------

bool Executor::is_turn(std::uint32_t id) const {
  if (is_in_order_) return true;
  const bool sends = operation(id).kind == Step::Kind::send;
  const std::vector<std::uint32_t>& turns = sends ? send_turns_ : receive_turns_;
  const std::span<const Plan::Peer> all = operation(id).peers.of(plan_->peers);
  return std::all_of(all.begin(), all.end(),
                     [&](const Plan::Peer& peer) { return turns[peer.rank.index()] == peer.turn; });
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
