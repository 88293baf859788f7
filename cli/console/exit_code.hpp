#pragma once

/// Exit codes. A failed proof differs from a wrong command line.
namespace tutti::cli {

inline constexpr int success = 0;
inline constexpr int violation_found = 1;
inline constexpr int usage_error = 2;

}  // namespace tutti::cli
