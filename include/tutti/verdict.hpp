#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/error.hpp>

namespace tutti {

/// Why a communicator came to its end: the same on all ranks that are still there.
struct Verdict {
  ErrorCode code = ErrorCode::internal;
  /// Whose fault it is, as far as that can be told: who is gone, behind, or called something else.
  std::vector<std::uint32_t> ranks{};
  std::string words{};

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

}  // namespace tutti
