#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <c10/core/ScalarType.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <tutti/tutti.h>

namespace tutti_torch {

/// The type under which tutti moves elements of a torch type. Types that tutti does not know are
/// moved as bytes.
struct Element {
  tuttiDataType_t type = tuttiUint8;
  /// How many elements of tutti's type make one of torch's.
  std::size_t factor = 1;
};
[[nodiscard]] Element element_of(c10::ScalarType type);

/// How tutti combines elements of a torch type. Throws ValueError if it cannot.
struct Combination {
  tuttiDataType_t type = tuttiUint8;
  tuttiRedOp_t op = tuttiSum;
};
[[nodiscard]] Combination combination_of(const c10d::ReduceOp& op, c10::ScalarType type,
                                         std::string_view call);

}  // namespace tutti_torch
