#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/json.hpp"

namespace tutti {

/// The integer in a JSON value; no value if it is not an integer or does not fit into T. (Unlike
/// get<T>(), which accepts 7.0 and throws.)
template <class T>
[[nodiscard]] std::optional<T> whole(const Json& json) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<std::uint64_t>();
    return std::in_range<T>(value) ? std::optional(static_cast<T>(value)) : std::nullopt;
  }
  if (!json.is_number_integer()) return std::nullopt;
  const auto value = json.get<std::int64_t>();
  return std::in_range<T>(value) ? std::optional(static_cast<T>(value)) : std::nullopt;
}

}  // namespace tutti
