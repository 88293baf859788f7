// How an executor waits, and what it says of a wait that is too long.
#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include <tutti/error.hpp>

#include "exec/executor.hpp"

namespace tutti {
namespace {

std::string in_seconds(Clock::duration time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", std::chrono::duration<double>(time).count());
  return text.data();
}

}  // namespace

void Executor::wait() {
  const std::uint32_t idle = ++idle_;
  ++counters_->waits;
  if (idle > 1 && alarm_.raised.load(std::memory_order_acquire) && answer_alarm()) return;
  // Reading the clock costs as much as a message, so at first it is read rarely. The first look
  // starts the timeout. It must not come late: on a busy machine every poll may yield the core for
  // milliseconds.
  constexpr std::uint32_t first_look = 16;
  constexpr std::uint32_t looks_between = 64;
  constexpr std::uint32_t a_while = 256;
  if (idle == 1) {
    has_slept_ = is_last_poll_ = false;
    next_ring_ = 0;
  }
  if (idle % looks_between == first_look || idle > a_while || has_slept_) watch_clock();
  has_slept_ = port_.wait(idle, deadline_);
  if (has_slept_) alarm_.note_sleep();
}

/// True if the call must poll at once: what came before the reason to end it still counts. If that
/// finds nothing, throws.
bool Executor::answer_alarm() {
  constexpr std::uint32_t between_rings = 64;
  if (idle_ < next_ring_ && !has_slept_ && !is_last_poll_) return false;
  next_ring_ = idle_ + between_rings;
  record();
  const std::optional<Error> error = alarm_.ring(blocking());
  if (!error) {
    is_last_poll_ = false;
    return false;
  }
  if (is_last_poll_) throw Error(*error);
  is_last_poll_ = true;
  port_.notice_arrivals();
  return true;
}

void Executor::watch_clock() {
  constexpr std::chrono::milliseconds first_note{50};
  constexpr std::chrono::seconds noteworthy{1};
  const Clock::time_point now = Clock::now();
  if (deadline_ == Clock::time_point::max()) {
    deadline_ = now + timeout_;
    wait_note_ = now + first_note;
    stall_note_ = now + noteworthy;
  }
  if (now > std::min({wait_note_, stall_note_, deadline_})) record();
  if (now > wait_note_) {
    wait_note_ = now + noteworthy;
    alarm_.note_wait(awaited());
  }
  if (now > stall_note_) {
    stall_note_ = Clock::time_point::max();
    alarm_.note_stall();
  }
  if (now > deadline_) {
    throw Error(ErrorCode::timed_out, words(stall()) + ", for " + in_seconds(timeout_));
  }
}

/// Calls f for the operations that are not finished, until it returns false. Those that are run in
/// order and have not had their turn are left out.
template <class F>
void Executor::for_each_open(F&& f) const {
  if (plan_ == nullptr) return;
  const std::size_t count =
      is_in_order_ ? std::min(at_ + 1, plan_->order.size()) : plan_->operations.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = is_in_order_ ? plan_->order[i].operation : static_cast<std::uint32_t>(i);
    if (!states_[id].finished && !f(id)) return;
  }
}

Stall Executor::stall() const {
  Stall found;
  for_each_open([&](std::uint32_t id) {
    found = stall(id);
    return found.ranks.empty();
  });
  return found.ranks.empty() ? Stall{} : found;
}

/// The peers of operations that are not finished and wait for no other operation, up to 64 of them.
/// Asks the port only what is released: the call goes on.
std::vector<std::uint32_t> Executor::awaited() const {
  constexpr std::size_t most = 64;
  std::set<std::uint32_t> found;
  for_each_open([&](std::uint32_t id) {
    const bool is_past = is_in_order_ && states_[id].done == operation(id).bytes;
    if (is_past || !is_ready(id)) return true;
    for (const Rank peer : ranks(id)) found.insert(peer);
    return found.size() < most;
  });
  return {found.begin(), found.end()};
}

/// The peers without which the call cannot go on: those of operations that wait for nothing else.
std::vector<std::uint32_t> Executor::blocking() const {
  std::vector<std::uint32_t> found;
  for_each_open([&](std::uint32_t id) {
    if (!is_ready(id)) return true;
    const Plan::Operation& operation = this->operation(id);
    const std::span<const Rank> all = ranks(id);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const bool has_given = operation.kind == Step::Kind::send
                                 ? states_[id].done == operation.bytes && is_released_by(id, k)
                                 : all.size() > 1 && has_arrived(all[k]);
      if (!has_given) found.push_back(all[k]);
    }
    return true;
  });
  return found;
}

/// False if an operation waits for others of this rank.
bool Executor::is_ready(std::uint32_t id) const {
  const Plan::Operation& operation = this->operation(id);
  const State& state = states_[id];
  if (operation.kind == Step::Kind::local) return false;
  if (state.done == operation.bytes) return true;
  if (state.done == 0 && plan_->has_turns && !is_turn(id)) return false;
  const std::size_t left = piece(id).begin + piece(id).bytes - state.done;
  const bool sends = operation.kind == Step::Kind::send;
  return sends ? allowed(id) >= std::min(left, slice_bytes_) : allowed(id) > carried(id);
}

/// What an operation waits for.
Stall Executor::stall(std::uint32_t id) const {
  const Plan::Operation& operation = this->operation(id);
  const std::size_t done = states_[id].done;
  Stall found{.round = operation.round,
              .bytes_done = done,
              .bytes = operation.bytes,
              .sends = operation.kind == Step::Kind::send};
  const std::span<const Rank> all = ranks(id);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool is_over = found.sends ? done == found.bytes && is_released_by(id, k)
                                     : done == 0 && has_arrived(all[k]);
    if (!is_over) found.ranks.push_back(all[k]);
  }
  return found;
}

bool Executor::has_arrived(Rank peer) const {
  try {
    const void* data = nullptr;
    return port_.poll({&peer, 1}, {}, &data, {}) > 0;
  } catch (const Error&) {
    return false;
  }
}

std::string words(const Stall& stall) {
  std::string ranks;
  for (const std::uint32_t rank : stall.ranks) {
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (ranks.empty()) return "waiting for no rank";
  return "in round " + std::to_string(stall.round) +
         (stall.sends ? ", sent data is not received by rank " : ", no data arrives from rank ") +
         ranks + " (" + std::to_string(stall.bytes_done) + " of " + std::to_string(stall.bytes) +
         " bytes done)";
}

}  // namespace tutti
