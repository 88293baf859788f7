#pragma once

#include <cstdint>

#include "core/hash.hpp"

namespace tutti {

/// The identity of a communicator that derives from another one: `occasion` is the number of the
/// call that creates it, `part` its colour. All ranks compute the same. The first numbers are
/// reserved for messages and for communicators that derive from none.
[[nodiscard]] inline std::uint64_t derived_identity(std::uint64_t parent, std::uint64_t occasion,
                                                    std::uint64_t part) {
  constexpr std::uint64_t reserved = 16;
  const std::uint64_t hash = mixed(mixed(parent, occasion), part);
  return hash < reserved ? hash + reserved : hash;
}

}  // namespace tutti
