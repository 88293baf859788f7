#pragma once

#include <cstdint>

#include "transport/table.hpp"

/// A transport for tests, as unfriendly as the contract of a port permits: it takes part of what is
/// sent, delivers it late and in pieces, lets peers overtake each other, and loses a rank, all by a
/// seed. It reaches threads of one process. See TransportRow.
namespace tutti::test::erratic {

/// For transports that are opened from now on.
struct Temper {
  std::uint64_t seed = 1;
  /// If above 0, the rank dies after it has sent or received so many times.
  std::uint32_t steps_to_live = 0;
  std::uint32_t mortal = 0;  ///< The member that dies.
};
void set_temper(const Temper& temper);

[[nodiscard]] const TransportRow& row();

}  // namespace tutti::test::erratic
