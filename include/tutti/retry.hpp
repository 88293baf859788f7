#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/export.hpp>

namespace tutti {

/// What it took until a call succeeded.
struct Retried {
  /// How many ranks took part in the result: those of the communicator before the call without
  /// `gone`. Divide an average by this.
  std::uint32_t ranks = 0;
  /// The lost ranks, which have no part in the result; as they were numbered before the call, in
  /// order.
  std::vector<std::uint32_t> gone{};
  std::uint32_t repeats = 0;
};

/// Makes a call, or several, that survive the loss of ranks: when one fails because a rank is gone
/// or hangs, those who are left shrink the communicator, put back what the call has changed, and
/// repeat it. `communicator` is then the smaller one.
///
/// It ends in the same way on all surviving ranks: with the same Retried, and with a communicator
/// of the same ranks. Either all repeat the call without the lost ranks, which are then in `gone`;
/// or none does, because some rank had its result before the loss was noticed. In that case
/// `communicator` is the former one on all ranks, and the next call with retry shrinks it. A rank
/// that has done its part waits until all have, which costs a barrier. All ranks make the same
/// calls with retry, in the same order.
///
/// `kept` is the memory that the call changes and needs again. Throws what is not the loss of a
/// rank: mismatch, invalid_argument, aborted; and the failure itself, with the memory put back, if
/// nobody is lost and the call fails again and again.
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
