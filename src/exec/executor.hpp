#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/counters.hpp>
#include <tutti/error.hpp>

#include "exec/memory_engine.hpp"
#include "exec/plan.hpp"
#include "transport/port.hpp"

namespace tutti {

/// The memory that a plan runs on.
struct Buffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;
  std::byte* spare = nullptr;
};

/// Lets other threads end a call. Checked only while the call makes no progress.
class Alarm {
 public:
  virtual ~Alarm() = default;

  /// True if ring() must be called.
  std::atomic<bool> raised{false};

  /// The error with which the call must end; none if it goes on. It cannot go on without these
  /// ranks.
  [[nodiscard]] virtual std::optional<Error> ring(std::span<const std::uint32_t> awaited) = 0;
  /// Called when a call has run for 50 ms, 1 s, 2 s, … and waits for these ranks.
  virtual void note_wait(std::span<const std::uint32_t> /*ranks*/) {}
  /// Called at most once per run, when it has waited for a second.
  virtual void note_stall() {}
  /// Called after every sleep. Throws if the call must end.
  virtual void note_sleep() {}
};

/// The operation that a rank waits in, and the ranks that it waits for.
struct Stall {
  std::vector<std::uint32_t> ranks{};
  std::uint32_t round = 0;
  std::size_t bytes_done = 0;  ///< Bytes of the operation that are done.
  std::size_t bytes = 0;
  bool sends = false;  ///< True for a send, false for a receive.
};
/// "in round 2, no data arrives from rank 3 (0 of 16 bytes done)".
[[nodiscard]] std::string words(const Stall& stall);

/// Runs plans for one rank: polls the operations and advances each as far as data, memory and
/// transport allow, one slice at a time. Short messages are sent and received one after another, in
/// an order that the plan has found, for as long as nothing has to wait that others need not wait
/// for.
///
/// For one thread at a time. Allocates nothing after it has run a plan of the same length.
class Executor {
 public:
  /// The port and the alarm must outlive the executor.
  Executor(Port& port, Alarm& alarm, std::uint32_t ranks, std::size_t slice_bytes);

  /// Sets the slice size. Requires: a multiple of 64.
  void set_slice(std::size_t bytes) { slice_bytes_ = bytes; }

  /// Runs a plan and adds to the counters. Throws timed_out that names the ranks it waits for if
  /// the plan is not done in time. Also throws what the port and the alarm throw. Messages are
  /// counted in the first part of a call only.
  void run(const Plan& plan, const Buffers& buffers, const Folding& folding,
           Clock::duration timeout, Counters& counters, bool is_first_part = true) {
    begin(plan, buffers, folding, timeout, counters, is_first_part);
    finish();
  }
  /// The two halves of run(). The first makes short sends that come first, without waiting, so that
  /// the caller can do something else while they travel.
  void begin(const Plan& plan, const Buffers& buffers, const Folding& folding,
             Clock::duration timeout, Counters& counters, bool is_first_part = true);
  void finish();

  /// What the current run waits for, or what the last run waited for when it failed.
  [[nodiscard]] Stall stall() const;

 private:
  /// Progress of an operation.
  struct State {
    std::size_t done = 0;     // Bytes moved.
    std::uint32_t piece = 0;  // Which of its pieces contains byte `done`.
    bool finished = false;    // All bytes are moved and, for a send, released.
  };
  [[nodiscard]] bool run_in_order();
  [[nodiscard]] bool await_release();
  [[nodiscard]] bool post_in_order(std::span<const Plan::OrderedStep> steps);
  [[nodiscard]] bool receive_in_order(const Plan::OrderedStep& step);
  void run_freely();
  void count_turns();
  [[nodiscard]] bool advance(std::uint32_t id);
  [[nodiscard]] bool advance_send(std::uint32_t id);
  [[nodiscard]] bool advance_local(std::uint32_t id);
  [[nodiscard]] bool advance_receive(std::uint32_t id);

  void fill(Port::Send& send, std::uint32_t id, std::size_t bytes);
  void announce(Port::Send& send, std::uint32_t id, std::uint64_t at, Port::Window& window);
  [[nodiscard]] std::uint64_t window_at(std::uint32_t send) const;
  [[nodiscard]] std::span<std::byte> landing(std::uint32_t id, std::byte* to, std::size_t most);
  void have_operands(std::size_t count);
  [[nodiscard]] const void** make_room(std::uint32_t id);
  void take(std::uint32_t id, std::byte* to, std::size_t bytes);
  void take_split(std::uint32_t id, std::size_t bytes);
  void place_own(std::uint32_t id);
  void fold_arrived(std::uint32_t id, std::size_t after, std::size_t bytes);
  [[nodiscard]] bool prepare_forward(std::uint32_t receive, std::byte* to, std::size_t bytes);
  void fill_forward(std::uint32_t receive, std::byte* to, std::size_t bytes,
                    std::uint64_t window_at);
  void post_forward(std::uint32_t send, std::size_t bytes);
  [[nodiscard]] bool may_forward(std::uint32_t receive);
  void record();
  void forget();
  void count_traffic();
  void note_begin(std::uint32_t send);
  void note_sent(std::uint32_t id, std::size_t bytes);
  void note_received(std::uint32_t id, std::size_t bytes, std::size_t moved);
  void note_turn(std::uint32_t id);
  bool move_on(std::uint32_t id, std::size_t bytes);

  [[nodiscard]] bool is_turn(std::uint32_t id) const;
  [[nodiscard]] std::size_t allowed(std::uint32_t id) const;
  /// The bytes of the next element of a receive that were taken before the others.
  [[nodiscard]] std::size_t carried(std::uint32_t id) const {
    return splits_elements_ ? carried_[ranks(id).front()] : 0;
  }
  [[nodiscard]] std::byte* carry_of(Rank peer);
  [[nodiscard]] std::size_t cleared(std::uint32_t id) const;
  [[nodiscard]] std::size_t released(std::uint32_t id) const;
  [[nodiscard]] bool is_released(std::uint32_t id) const;
  /// How many of the bytes that are counted the peer has released. Bytes of earlier calls, which
  /// these counters do not count, may also be unreleased.
  [[nodiscard]] std::uint64_t released_by(Rank peer) const {
    const std::uint64_t sent = counters_->peers[peer].bytes_sent;
    return sent - std::min<std::uint64_t>(sent, port_.unreleased(peer));
  }
  /// True if the k-th receiver of a send has released all of it.
  [[nodiscard]] bool is_released_by(std::uint32_t id, std::size_t k) const {
    return released_by(ranks(id)[k]) >=
           send_begin_[operation(id).peers.begin + k] + operation(id).bytes;
  }

  [[nodiscard]] const Plan::Operation& operation(std::uint32_t id) const {
    return plan_->operations[id];
  }
  [[nodiscard]] const Plan::Piece& piece(std::uint32_t id) const {
    return plan_->pieces[operation(id).pieces.begin + states_[id].piece];
  }
  [[nodiscard]] std::span<const Rank> ranks(std::uint32_t id) const { return plan_->ranks_of(id); }
  [[nodiscard]] const std::byte* source(Buffer buffer, std::size_t offset) const {
    return bases_[static_cast<std::size_t>(buffer)] + offset;
  }
  [[nodiscard]] std::byte* target(Buffer buffer, std::size_t offset) const {
    return bases_[static_cast<std::size_t>(buffer)] + offset;
  }
  /// The next byte of the operation, where it is read from or written to.
  [[nodiscard]] const std::byte* next_source(std::uint32_t id) const {
    const Plan::Piece& piece = this->piece(id);
    return source(piece.from, piece.from_offset + (states_[id].done - piece.begin));
  }
  [[nodiscard]] std::byte* next_target(std::uint32_t id) const {
    const Plan::Piece& piece = this->piece(id);
    return target(piece.to, piece.to_offset + (states_[id].done - piece.begin));
  }
  [[nodiscard]] bool is_made(std::uint32_t send) const;
  void copy(std::span<const Plan::Copy> copies);
  [[nodiscard]] bool copy_aside();

  void wait();
  void watch_clock();
  [[nodiscard]] bool answer_alarm();
  template <class F>
  void for_each_open(F&& f) const;
  [[nodiscard]] Stall stall(std::uint32_t id) const;
  [[nodiscard]] std::vector<std::uint32_t> awaited() const;
  [[nodiscard]] std::vector<std::uint32_t> blocking() const;
  [[nodiscard]] bool is_ready(std::uint32_t id) const;
  [[nodiscard]] bool has_arrived(Rank peer) const;

  Port& port_;
  Alarm& alarm_;
  CpuMemory memory_;
  std::size_t slice_bytes_;

  // The current run:
  const Plan* plan_ = nullptr;
  std::array<std::byte*, 4> bases_{};  // By Buffer. The input is never a target.
  const Folding* folding_ = nullptr;
  Counters* counters_ = nullptr;  // Its sums are positions in the streams to and from the peers.
  Clock::duration timeout_{};
  bool is_first_part_ = true;
  bool splits_elements_ = false;  // Slices may end within an element.
  bool is_in_order_ = false;
  std::size_t at_ = 0;  // The step of plan.order that is being run.
  // Whether states_, the counters and what is derived from them are kept. While whole operations
  // are run in order, at_ and forwarded_ say what is done, and all states are zero.
  bool is_recorded_ = false;
  std::vector<std::uint32_t> forwarded_;  // Sends that were made before their turn in the order.
  bool is_outstanding_ = false;   // Of what was sent in order, something may not be released.
  bool aside_done_ = false;       // The copies of plan.aside are made.
  std::uint32_t idle_ = 0;        // How many polls have found nothing since the last progress.
  bool has_slept_ = false;        // The last wait slept, so time has passed.
  bool is_last_poll_ = false;     // If this poll finds nothing, the call ends.
  std::uint32_t next_ring_ = 0;   // The number of the wait before which to ring.
  Clock::time_point deadline_;    // Set after the first waits.
  Clock::time_point wait_note_;   // When to call note_wait().
  Clock::time_point stall_note_;  // When to call note_stall().
  std::size_t count_ = 0;         // The operations of the plan,
  std::vector<State> states_;     // and what is done of each.
  std::vector<std::uint64_t> send_begin_;     // By entry of plan.peers: first stream position.
  std::vector<std::uint32_t> send_turns_;     // By rank: ordinal of the next send to it.
  std::vector<std::uint32_t> receive_turns_;  // By rank: ordinal of the next receive from it.
  std::vector<std::uint64_t> window_begin_;   // By entry of plan.exposures: stream position.
  std::vector<Port::Send> batch_;             // Sends that are made together,
  std::vector<std::uint32_t> posting_;        // their operations,
  std::vector<Port::Window> windows_;         // and the windows that they announce.
  Port::Send forward_;                        // The send that forwards the result of a fold,
  std::vector<std::byte*> copies_;            // and more destinations of that fold.
  std::vector<const void*> operand_memory_;
  std::span<const void*> operands_;  // Of one fold.
  // Of elements that slices may split. A peer has one receive at a time, so by rank:
  std::vector<std::size_t> carried_;      // how many bytes of an element are kept,
  std::vector<CacheLine> carry_;          // and these bytes.
  std::vector<const std::byte*> pieces_;  // What has arrived, by peer of the operation.
};

}  // namespace tutti
