#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace tutti {

/// The integer in an nlohmann-json value; no value if it is not an integer or does not fit into T.
/// (The library's get<T>() also converts true, 0.5, 1e300 and numbers that are too large.)
template <class T, class Json>
[[nodiscard]] std::optional<T> whole(const Json& json) {
  if (json.is_number_unsigned()) {
    const auto value = json.template get<std::uint64_t>();
    return std::in_range<T>(value) ? std::optional(static_cast<T>(value)) : std::nullopt;
  }
  if (!json.is_number_integer()) return std::nullopt;
  const auto value = json.template get<std::int64_t>();
  return std::in_range<T>(value) ? std::optional(static_cast<T>(value)) : std::nullopt;
}

}  // namespace tutti
