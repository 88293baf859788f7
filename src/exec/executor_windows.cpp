// The part of an executor that deals with windows: data that a rank computes is written straight
// into the memory of the ranks that receive it.
#include <algorithm>
#include <cstring>

#include "exec/executor.hpp"

namespace tutti {

/// Records where the streams from the peers begin in this run.
void Executor::note_positions() {
  receive_begin_.resize(plan_->exposures.size());
  for (std::size_t i = 0; i < receive_begin_.size(); ++i) {
    const Plan::Exposure& each = plan_->exposures[i];
    receive_begin_[i] = port_.consumed(each.peer) + each.before;
  }
}

/// Exposes the window that goes with a send.
void Executor::expose(const Plan::Operation& send) {
  const Plan::Exposure& exposure = plan_->exposures[*send.exposes];
  const Plan::Operation& receive = plan_->operations[exposure.receive];
  const Plan::Piece& piece = plan_->pieces[receive.pieces_end - 1];
  Port::Window window{.memory = {target(piece.to, piece.to_offset), receive.bytes},
                      .at = receive_begin_[*send.exposes]};
  if (exposure.shift) {
    window.after = port_.sent(exposure.peer) + static_cast<std::uint64_t>(*exposure.shift);
  }
  port_.expose(exposure.peer, window);
}

/// Finds windows for the next `bytes` of the send that forwards the result of a receive.
bool Executor::find_windows(const Plan::Operation& receive, std::size_t bytes) {
  return port_.find_windows(ranks(*receive.forward), bytes, receive.answers ? bytes : 0, windows_);
}

/// Sends bytes that are in the windows of their receivers.
void Executor::put(std::uint32_t send, std::size_t bytes) {
  const std::span<const Rank> to = ranks(send);
  port_.put(to, bytes);
  counters_->bytes_put += bytes * to.size();
}

/// Writes the result to all windows in the same pass. Stores to a window miss the cache. A short
/// result is computed first, so that the loads of the operands do not wait for these stores. A long
/// one is written to a single window together with the output, and to several block by block.
void Executor::fold_to_windows(std::byte* to, std::size_t bytes) {
  constexpr std::size_t block_bytes = std::size_t{1} << 14;
  if (windows_.size() == 1 && bytes > block_bytes) {
    folding_.fold(to, windows_.front(), operands_.data(), operands_.size(), folding_.count(bytes));
    return;
  }
  const std::size_t block = folding_.count(block_bytes) * folding_.element_bytes;
  for (std::size_t at = 0; at < bytes; at += block) {
    const std::size_t some = std::min(block, bytes - at);
    folding_.fold(to + at, nullptr, operands_.data(), operands_.size(), folding_.count(some));
    for (std::byte* const window : windows_) std::memcpy(window + at, to + at, some);
    for (const void*& operand : operands_) operand = static_cast<const std::byte*>(operand) + some;
  }
}

}  // namespace tutti
