#pragma once

#include <atomic>
#include <string>
#include <vector>

#include <tutti/counters.hpp>
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

/// How a plan's contributions are folded into each other.
struct Folding {
  Fold fold = nullptr;
  /// The caller's own way, which comes before `fold`; may be null.
  const Reduction::Combine* combine = nullptr;
  std::size_t element_bytes = 1;
};

/// What may end a call from outside. Looked at only when nothing moves.
class Alarm {
 public:
  virtual ~Alarm() = default;

  /// Whether to call ring().
  std::atomic<bool> raised{false};

  /// Throws if the call must not go on.
  virtual void ring() = 0;
  /// Nothing has moved for a while. Called once in a run.
  virtual void note_stall() {}
};

/// Whom a rank waits for.
struct Stall {
  std::vector<std::uint32_t> ranks{};
  std::uint32_t round = 0;
  std::size_t bytes_done = 0;  ///< Of the operation that waits.
  std::size_t bytes = 0;
  bool sends = false;  ///< What is sent is not taken; else nothing comes.
};
/// "in round 2, nothing comes from rank 3 (0 of 16 bytes done)".
[[nodiscard]] std::string words(const Stall& stall);

/// Runs plans for one rank: polls its operations and moves every one of them on as far as data,
/// memory and transport allow, a slice at a time.
///
/// For one thread at a time. Allocates nothing once it has run a plan as long.
class Executor {
 public:
  /// Both must outlive this.
  Executor(Port& port, Alarm& alarm, std::uint32_t ranks, std::size_t slice_bytes);

  /// How large the pieces are from now on: a multiple of 64.
  void set_slice(std::size_t bytes) { slice_bytes_ = bytes; }

  /// Adds what it does to the counters. Throws timed_out that names whom it waits for when the time
  /// is over before the plan is done, and what the port and the alarm throw.
  void run(const Plan& plan, const Buffers& buffers, const Folding& folding,
           Clock::duration timeout, Counters& counters);

  /// Whom the last run waits for, or waited for when it ended by an error.
  [[nodiscard]] Stall stall() const;

 private:
  /// How far an operation is.
  struct State {
    std::size_t done = 0;     // Bytes moved.
    std::uint32_t piece = 0;  // The piece that byte `done` is in.
    bool finished = false;    // And, of a send, its memory is free again.
  };

  /// Memory that every element may stand in.
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
  [[nodiscard]] std::span<const Plan::Peer> peers(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t first_piece(const Plan::Operation& operation) const;
  [[nodiscard]] const std::byte* source(Buffer buffer, std::size_t offset) const;
  [[nodiscard]] std::byte* target(Buffer buffer, std::size_t offset) const;
  void start(const Plan& plan);
  void copy(std::span<const Plan::Copy> copies) const;
  void fold(std::byte* to, std::byte* copy, std::size_t bytes);
  void name_receivers(std::uint32_t id, const State& state);
  void note_sent(std::uint32_t id, const Plan::Operation& operation, State& state,
                 std::size_t bytes);
  [[nodiscard]] std::byte* room_to_forward(const Plan::Operation& operation, const State& state,
                                           std::span<const std::byte> to);
  void wait(std::uint32_t idle);
  void watch_clock();
  [[nodiscard]] bool has_arrived(Rank peer) const;

  Port& port_;
  Alarm& alarm_;
  std::size_t slice_bytes_;

  // Of the run under way:
  const Plan* plan_ = nullptr;
  Buffers buffers_;
  Folding folding_;
  Counters* counters_ = nullptr;
  Clock::duration timeout_{};
  bool has_slept_ = false;        // While waiting, so that time has passed.
  Clock::time_point deadline_;    // Once it has been waited for a while,
  Clock::time_point stall_note_;  // and when to note that.
  std::vector<State> states_;
  std::vector<std::uint64_t> send_begin_;     // By entry of plan.peers: stream position.
  std::vector<std::uint32_t> send_turns_;     // By rank: whose turn it is to send to it,
  std::vector<std::uint32_t> receive_turns_;  // and to receive from it.
  std::vector<Rank> ranks_;                   // Of one operation.
  std::vector<const void*> operands_;         // Of one fold.
  std::vector<CacheLine> accumulator_;        // Of one, by the caller's function.
};

}  // namespace tutti
