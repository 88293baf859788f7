#pragma once

#include <cstdint>
#include <vector>

#include "cli/measure/buffer_pair.hpp"
#include "cli/measure/case.hpp"
#include "cli/measure/pace.hpp"

namespace tutti::measure {

/// The cases to measure one after another, and how to measure them.
struct Workload {
  Collective collective = Collective::allreduce;
  std::vector<Case> cases{};
  Pace pace{};
  bool check = true;      ///< Check the result of every case.
  bool limit = false;     ///< Measure the limit of the machine, too.
  bool prepared = false;  ///< Prepare each call, and run it.
  BufferPair::Kind memory = BufferPair::Kind::shared;

  /// The bytes of the largest buffer of all cases.
  [[nodiscard]] std::uint64_t largest_buffer(std::uint32_t ranks) const;
};

}  // namespace tutti::measure
