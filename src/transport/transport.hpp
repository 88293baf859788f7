#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/port.hpp"

namespace tutti {

/// Who a port is for: one communicator, as one of its ranks sees it.
struct Membership {
  /// Names the communicator: the same on all its ranks, and no other's of the same fabric.
  std::uint64_t context = 0;
  Rank self{};
  /// By rank of the communicator: which member of the fabric it is.
  std::vector<std::uint32_t> members{};

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members.size()); }
};

/// A way by which members of a fabric reach each other: opened once, and shared by all their
/// communicators. It owns what is costly: segments, connections, staging memory. A communicator
/// costs a port, which has neither descriptors nor threads of its own.
///
/// The transports of this folder stand in `transports()` of table.hpp. One for remote direct memory
/// access fits the same interface: Port::expect() tells where data will go before it comes,
/// Port::send() leaves the data where it is until released(), and a port asks nobody to touch
/// memory but by arrived() and reserve(), which a transport whose memory the CPU cannot see need
/// not offer.
class Transport {
 public:
  virtual ~Transport() = default;

  /// The first step of opening a port, on each rank: what its peers must be told first. Throws
  /// unsupported if there is no room for another communicator.
  [[nodiscard]] virtual std::uint64_t offer(const Membership& membership) = 0;
  /// The second, once every rank knows the offers of all, in order of rank. Throws unsupported if
  /// a rank that this port needs has offered nothing.
  [[nodiscard]] virtual std::unique_ptr<Port> open(const Membership& membership,
                                                   std::span<const std::uint64_t> offers) = 0;
  /// Takes an offer back where it came to nothing.
  virtual void withdraw(std::uint64_t /*offer*/) {}
};

}  // namespace tutti
