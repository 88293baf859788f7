#pragma once

#include <string>
#include <vector>

#include <tutti/counters.hpp>
#include <tutti/reduction.hpp>

#include "exec/plan.hpp"
#include "kernels/fold.hpp"
#include "transport/transport.hpp"

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

/// Runs plans for one rank: polls its operations and moves every one of them on as far as data,
/// memory and transport allow, a slice at a time.
///
/// For one thread at a time. Allocates nothing once it has run a plan as long.
class Executor {
 public:
  /// The transport must outlive this.
  Executor(Transport& transport, std::uint32_t ranks, std::size_t slice_bytes);

  /// How large the pieces are from now on: a multiple of 64.
  void set_slice(std::size_t bytes) { slice_bytes_ = bytes; }

  /// Adds what it does to the counters. Throws timed_out that names whom it waits for when the time
  /// is over before the plan is done, and what the transport throws.
  void run(const Plan& plan, const Buffers& buffers, const Folding& folding,
           Clock::duration timeout, Counters& counters);

 private:
  /// How far an operation is.
  struct State {
    std::size_t done = 0;     // Bytes moved.
    std::uint32_t piece = 0;  // The piece that byte `done` is in.
    bool finished = false;    // And, of a send, its memory is free again.
  };

  [[nodiscard]] bool advance(std::uint32_t id);
  [[nodiscard]] bool advance_send(std::uint32_t id, const Plan::Operation& operation, State& state);
  [[nodiscard]] bool advance_copy(std::uint32_t id, const Plan::Operation& operation, State& state);
  [[nodiscard]] bool advance_fold(std::uint32_t id, const Plan::Operation& operation, State& state);
  void note_received(std::uint32_t id, const Plan::Operation& operation, State& state,
                     std::size_t bytes);
  void move_on(const Plan::Operation& operation, State& state, std::size_t bytes);
  [[nodiscard]] bool is_turn(std::uint32_t id) const;
  [[nodiscard]] std::size_t allowed(const Plan::Piece& piece, std::uint32_t index,
                                    std::size_t at) const;
  [[nodiscard]] std::size_t cleared(std::uint32_t id) const;
  [[nodiscard]] std::span<const Plan::Peer> peers(std::uint32_t id) const;
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
  [[nodiscard]] std::string waited_for() const;

  Transport& transport_;
  std::size_t slice_bytes_;

  // Of the run under way:
  const Plan* plan_ = nullptr;
  Buffers buffers_;
  Folding folding_;
  Counters* counters_ = nullptr;
  Clock::duration timeout_{};
  Clock::time_point deadline_;  // Once it has been waited for a while.
  std::vector<State> states_;
  std::vector<std::uint64_t> send_begin_;     // By entry of plan.peers: stream position.
  std::vector<std::uint32_t> send_turns_;     // By rank: whose turn it is to send to it,
  std::vector<std::uint32_t> receive_turns_;  // and to receive from it.
  std::vector<Rank> ranks_;                   // Of one operation.
  std::vector<const void*> operands_;         // Of one fold.
};

}  // namespace tutti
