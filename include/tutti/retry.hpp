#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// How a call with retry succeeded.
struct Retried {
  /// The number of ranks that contributed to the result: those of the communicator before the call
  /// without `gone`. Divide an average by this.
  std::uint32_t ranks = 0;
  /// The lost ranks, which did not contribute, by their numbers before the call, in order.
  std::vector<std::uint32_t> gone{};
  std::uint32_t repeats = 0;
};

/// Makes a call that survives the loss of ranks. `call` may consist of several calls. If it fails
/// because a rank is lost or hangs, the surviving ranks shrink the communicator, restore the memory
/// that the call changed, and repeat it. `communicator` is then the smaller communicator.
///
/// The outcome is the same on all surviving ranks: the same Retried, and a communicator of the same
/// ranks. Either all repeat the call without the lost ranks, which are then in `gone`. Or none
/// repeats it, because some rank had its result before the loss was detected. In that case
/// `communicator` is the old one on all ranks, and the next call with retry shrinks it. A rank that
/// has finished waits until all have, which costs a barrier. All ranks must make the same calls
/// with retry, in the same order.
///
/// `kept` is the memory that the call changes and needs again. Throws errors other than the loss of
/// a rank: mismatch, invalid_argument, aborted. If no rank is lost and the call fails repeatedly,
/// restores the memory and throws the last error.
TUTTI_API Retried with_retry(Communicator& communicator,
                             const std::function<void(Communicator&)>& call,
                             std::span<const std::span<std::byte>> kept);

template <Writable... Kept>
Retried with_retry(Communicator& communicator, const std::function<void(Communicator&)>& call,
                   Kept&... kept) {
  const std::vector<std::span<std::byte>> all{std::as_writable_bytes(std::span(kept))...};
  return with_retry(communicator, call, std::span<const std::span<std::byte>>(all));
}

}  // namespace tutti
