#pragma once

#include <atomic>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/counters.hpp>
#include <tutti/error.hpp>
#include <tutti/reduction.hpp>

#include "exec/plan.hpp"
#include "kernels/fold.hpp"
#include "transport/port.hpp"

namespace tutti {

/// The memory that a plan runs on.
struct Buffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;
  std::byte* spare = nullptr;
};

/// How a plan reduces contributions.
struct Folding {
  Fold fold = nullptr;
  /// The caller's own function, used instead of `fold`; null if there is none.
  const Reduction::Combine* combine = nullptr;
  std::size_t element_bytes = 1;

  /// The number of elements in `bytes`. Without the division, which takes as long as the rest of a
  /// short fold.
  [[nodiscard]] std::size_t count(std::size_t bytes) const {
    // Without std::has_single_bit(), which is a call where the processor may not count bits.
    if ((element_bytes & (element_bytes - 1)) != 0) return bytes / element_bytes;
    return bytes >> std::countr_zero(element_bytes);
  }
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
/// transport allow, one slice at a time.
///
/// For one thread at a time. Allocates nothing after it has run a plan of the same length.
class Executor {
 public:
  /// The port and the alarm must outlive the executor.
  Executor(Port& port, Alarm& alarm, std::uint32_t ranks, std::size_t slice_bytes);

  /// Sets the slice size. Requires: a multiple of 64.
  void set_slice(std::size_t bytes) { slice_bytes_ = bytes; }
  /// The least length of messages that are copied once, by the kernel: see
  /// Port::allow_single_copy().
  void set_single_copy_from(std::size_t bytes) { single_copy_from_ = bytes; }

  /// Runs a plan and adds to the counters. Throws timed_out that names the ranks it waits for if
  /// the plan is not done in time. Also throws what the port and the alarm throw. Messages are
  /// counted in the first part of a call only.
  void run(const Plan& plan, const Buffers& buffers, const Folding& folding,
           Clock::duration timeout, Counters& counters, bool is_first_part = true);

  /// What the current run waits for, or what the last run waited for when it failed.
  [[nodiscard]] Stall stall() const;

 private:
  /// Progress of an operation.
  struct State {
    std::size_t done = 0;     // Bytes moved.
    std::uint32_t piece = 0;  // The piece that contains byte `done`.
    bool finished = false;    // All bytes are moved and, for a send, released.
  };

  /// How the result of a fold is forwarded while it is computed.
  enum class Forward : std::uint8_t {
    none,
    copy,  ///< Copied to staging memory of the port.
    put,   ///< Written to windows of the receivers.
  };

  /// Memory aligned for every element type.
  struct alignas(64) CacheLine {
    std::byte bytes[64];
  };

  [[nodiscard]] bool advance(std::uint32_t id);
  [[nodiscard]] bool advance_send(std::uint32_t id, const Plan::Operation& operation, State& state);
  [[nodiscard]] bool advance_copy(std::uint32_t id, const Plan::Operation& operation, State& state);
  [[nodiscard]] bool advance_fold(std::uint32_t id, const Plan::Operation& operation, State& state);
  [[nodiscard]] bool advance_local(const Plan::Operation& operation, State& state);
  void note_received(std::uint32_t id, const Plan::Operation& operation, State& state,
                     std::size_t bytes);
  void move_on(const Plan::Operation& operation, State& state, std::size_t bytes);
  [[nodiscard]] bool is_turn(std::uint32_t id) const;
  [[nodiscard]] std::size_t allowed(const Plan::Piece& piece, std::uint32_t index,
                                    std::size_t at) const;
  [[nodiscard]] std::size_t cleared(std::uint32_t id) const;
  [[nodiscard]] std::size_t first_peer(std::uint32_t id) const {
    return id == 0 ? 0 : plan_->operations[id - 1].peers_end;
  }
  [[nodiscard]] std::span<const Plan::Peer> peers(std::uint32_t id) const {
    const std::size_t begin = first_peer(id);
    return {plan_->peers.data() + begin, plan_->operations[id].peers_end - begin};
  }
  [[nodiscard]] std::span<const Rank> ranks(std::uint32_t id) const {
    const std::size_t begin = first_peer(id);
    return {plan_->ranks.data() + begin, plan_->operations[id].peers_end - begin};
  }
  [[nodiscard]] std::uint32_t first_piece(const Plan::Operation& operation) const {
    const auto id = static_cast<std::size_t>(&operation - plan_->operations.data());
    return id == 0 ? 0 : plan_->operations[id - 1].pieces_end;
  }
  [[nodiscard]] const std::byte* source(Buffer buffer, std::size_t offset) const {
    return buffer == Buffer::input ? buffers_.input + offset : target(buffer, offset);
  }
  [[nodiscard]] std::byte* target(Buffer buffer, std::size_t offset) const {
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
  void start(const Plan& plan);
  void copy(std::span<const Plan::Copy> copies) const;
  void fold(std::byte* to, std::byte* copy, std::size_t bytes);
  [[nodiscard]] bool run_enclosed();
  [[nodiscard]] bool receive_enclosed(const Plan::Operation& operation, std::span<const Rank> from);
  [[nodiscard]] bool shares_all_it_sends() const;
  [[nodiscard]] bool run_straight();
  void continue_straight();
  void run_together();
  [[nodiscard]] std::size_t run_bundle(const Plan::Bundle& bundle, bool has_lent);
  [[nodiscard]] bool send_bundle(const Plan::Bundle& bundle, std::span<const Port::Parcel> parcels);
  [[nodiscard]] bool send_straight(std::uint32_t id, const Plan::Operation& operation);
  void receive_straight(std::uint32_t id, const Plan::Operation& operation);
  void put_straight(std::uint32_t send);
  void count_straight(std::span<const Rank> to, std::size_t bytes, std::uint64_t messages);
  /// How many messages the operation counts as, with each peer.
  [[nodiscard]] std::uint64_t messages_in(const Plan::Operation& operation) const {
    return operation.begins_message && is_first_part_ ? 1 : 0;
  }
  [[nodiscard]] bool is_put(std::uint32_t send) const;
  [[nodiscard]] bool await_put(std::uint32_t receive);
  /// False if the copies were made before.
  [[nodiscard]] bool copy_aside() {
    if (aside_done_) return false;
    make_aside_copies();
    return true;
  }
  void make_aside_copies();
  [[nodiscard]] std::size_t released(std::uint32_t id) const;
  [[nodiscard]] bool is_released(std::uint32_t id) const;
  /// True if the k-th receiver of a send has released all of it.
  [[nodiscard]] bool is_released_by(std::uint32_t id, std::size_t k) const {
    const std::uint64_t begin = send_begin_[first_peer(id) + k];
    return port_.released(ranks(id)[k]) >= begin + plan_->operations[id].bytes;
  }
  [[nodiscard]] std::optional<std::uint32_t> unfinished_straight() const;
  [[nodiscard]] Stall stall(std::uint32_t id, std::size_t done) const;
  void allow_single_copy(const Plan::Operation& send);
  void note_receivers(std::uint32_t id, const State& state);
  void note_sent(std::uint32_t id, const Plan::Operation& operation, State& state,
                 std::size_t bytes);
  [[nodiscard]] Forward find_forward(const Plan::Operation& operation, const State& state,
                                     std::span<const std::byte> to);
  void note_positions();
  void expose(const Plan::Operation& send);
  [[nodiscard]] bool find_windows(const Plan::Operation& receive, std::size_t bytes);
  void fold_to_windows(std::byte* to, std::size_t bytes);
  void put(std::uint32_t send, std::size_t bytes);
  void wait(std::uint32_t idle);
  void watch_clock();
  [[nodiscard]] bool answer_alarm(std::uint32_t idle);
  [[nodiscard]] std::vector<std::uint32_t> awaited() const;
  [[nodiscard]] std::vector<std::uint32_t> blocking() const;
  [[nodiscard]] bool is_ready(std::uint32_t id) const;
  [[nodiscard]] bool has_arrived(Rank peer) const;

  Port& port_;
  Alarm& alarm_;
  std::size_t most_enclosed_;  // The port's.
  std::size_t slice_bytes_;
  std::size_t single_copy_from_ = ~std::size_t{0};
  bool allows_single_copy_ = false;  // As the port was last told.

  // The current run:
  const Plan* plan_ = nullptr;
  Buffers buffers_;
  Folding folding_;
  Counters* counters_ = nullptr;
  Clock::duration timeout_{};
  bool is_first_part_ = true;
  bool is_straight_ = false;
  std::size_t straight_at_ = 0;              // The step of plan.straight that is being run.
  std::size_t straight_done_ = 0;            // Its bytes that are done.
  std::vector<std::uint32_t> straight_put_;  // Sends that were made before their turn.
  std::size_t least_lent_ = 0;               // The port's.
  bool aside_done_ = false;                  // The copies of plan.aside are made.
  bool has_slept_ = false;                   // The last wait slept, so time has passed.
  bool is_last_poll_ = false;                // If this poll finds nothing, the call ends.
  std::uint32_t next_ring_ = 0;              // The number of the wait before which to ring.
  Clock::time_point deadline_;               // Set after the first waits.
  Clock::time_point wait_note_;              // When to call note_wait().
  Clock::time_point stall_note_;             // When to call note_stall().
  std::vector<State> states_;
  std::vector<std::uint64_t> send_begin_;     // By entry of plan.peers: first stream position.
  std::vector<std::uint32_t> send_turns_;     // By rank: ordinal of the next send to it.
  std::vector<std::uint32_t> receive_turns_;  // By rank: ordinal of the next receive from it.
  std::vector<std::uint64_t> receive_begin_;  // By entry of plan.exposures: stream position.
  std::vector<std::byte*> windows_;           // More destinations of one fold.
  std::vector<const void*> operands_;         // Operands of one fold.
  std::vector<CacheLine> accumulator_;        // For a fold by the caller's function.
};

}  // namespace tutti
