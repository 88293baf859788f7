#pragma once

#include <vector>

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

/// Runs plans for one rank: polls its operations and moves every one of them on as far as data,
/// memory and transport allow, a slice at a time.
///
/// For one thread at a time. Allocates nothing once it has run a plan as long.
class Executor {
 public:
  /// The transport must outlive this.
  Executor(Transport& transport, std::uint32_t ranks, std::size_t slice_bytes);

  /// Throws timed_out when the deadline passes before the plan is done.
  void run(const Plan& plan, const Buffers& buffers, Fold fold, std::size_t element_bytes,
           Clock::time_point deadline);

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
  void wait(std::uint32_t idle, Clock::time_point deadline);

  Transport& transport_;
  std::size_t slice_bytes_;

  // Of the run under way:
  const Plan* plan_ = nullptr;
  Buffers buffers_;
  Fold fold_ = nullptr;
  std::size_t element_bytes_ = 1;
  std::vector<State> states_;
  std::vector<std::uint64_t> send_begin_;     // By entry of plan.peers: stream position.
  std::vector<std::uint32_t> send_turns_;     // By rank: whose turn it is to send to it,
  std::vector<std::uint32_t> receive_turns_;  // and to receive from it.
  std::vector<Rank> ranks_;                   // Of one operation.
  std::vector<const void*> operands_;         // Of one fold.
};

}  // namespace tutti
