#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/json.hpp"

namespace tutti {

/// The whole number that a JSON value is; none if it is another value, be it 7.0, or does not fit.
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
