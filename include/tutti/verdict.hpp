#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/error.hpp>

namespace tutti {

/// Why a communicator failed. The same on all surviving ranks.
struct Verdict {
  ErrorCode code = ErrorCode::internal;
  /// The ranks that caused it, if known: ranks that are lost, late, or made a different call.
  std::vector<std::uint32_t> ranks{};
  std::string words{};

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

}  // namespace tutti
