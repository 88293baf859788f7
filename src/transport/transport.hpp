#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/port.hpp"

namespace tutti {

/// One communicator as one of its ranks sees it: the owner of a port.
struct Membership {
  /// The id of the communicator: the same on all its ranks, and unique within the fabric.
  std::uint64_t context = 0;
  Rank self{};
  /// By rank of the communicator: its member index in the fabric.
  std::vector<std::uint32_t> members{};

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members.size()); }
};

/// Connects members of a fabric. Opened once and shared by all their communicators. It owns the
/// costly resources: segments, connections, staging memory. A communicator adds only a port, which
/// has neither descriptors nor threads of its own.
///
/// transports() in table.hpp lists all transports.
class Transport {
 public:
  virtual ~Transport() = default;

  /// First step of opening a port, on each rank: returns what its peers must know. Throws
  /// unsupported if there is no room for another communicator.
  [[nodiscard]] virtual std::uint64_t offer(const Membership& membership) = 0;
  /// Second step, once every rank knows the offers of all ranks. `offers` is in rank order. Throws
  /// unsupported if a rank that this port needs has offered nothing.
  [[nodiscard]] virtual std::unique_ptr<Port> open(const Membership& membership,
                                                   std::span<const std::uint64_t> offers) = 0;
  /// Takes back an offer for which no port was opened.
  virtual void withdraw(std::uint64_t /*offer*/) {}
};

}  // namespace tutti
