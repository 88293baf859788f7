#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/export.hpp>

namespace tutti {

/// The arrangement of ranks: 8x4 is 8 ranks per node on 4 nodes, or a torus of 8 by 4. The first
/// dimension varies fastest: in 8x4, ranks 0 … 7 are the first row. No dimensions means no shape.
struct Shape {
  std::vector<std::uint32_t> dimensions;

  [[nodiscard]] bool empty() const { return dimensions.empty(); }

  /// The number of ranks that fill the shape. Saturates at the largest std::uint64_t.
  [[nodiscard]] TUTTI_API std::uint64_t size() const;

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// "8x4", or "" for no shape.
[[nodiscard]] TUTTI_API std::string to_string(const Shape& shape);

/// The inverse of to_string(). Throws invalid_argument unless the text is 1 to 8 positive numbers
/// joined by 'x' whose product fits in 31 bits.
[[nodiscard]] TUTTI_API Shape parse_shape(std::string_view text);

/// The two-dimensional shape for `ranks` that is nearest to a square: 12 → 4x3, 7 → 7x1.
[[nodiscard]] TUTTI_API Shape squarest(std::uint32_t ranks);

}  // namespace tutti
