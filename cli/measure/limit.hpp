#pragma once

#include <cstdint>

#include <tutti/collective.hpp>

#include "cli/measure/machine.hpp"

namespace tutti::measure {

/// How the calls are made whose limit is asked for.
struct Manner {
  bool in_place = false;
  bool barrier = false;  ///< Before each call, so that calls do not overlap.
};

/// A lower bound of the seconds of a collective on this machine; `bytes` is the size of the larger
/// buffer. Over TCP if the machine's loopback was measured, else through memory. The formulas are
/// in docs/performance.md.
[[nodiscard]] double limit_seconds(const Machine& machine, Collective collective,
                                   std::uint32_t ranks, std::uint64_t bytes, Manner manner = {});

}  // namespace tutti::measure
