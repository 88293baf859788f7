#pragma once

/// What a command exits with: a proof that failed is not a command that was typed wrong.
namespace tutti::cli {

inline constexpr int success = 0;
inline constexpr int violation_found = 1;
inline constexpr int usage_error = 2;

}  // namespace tutti::cli
