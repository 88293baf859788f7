#pragma once

#include <cstdint>
#include <vector>

#include <tutti/schedule/chunk.hpp>
#include <tutti/schedule/problem.hpp>

namespace tutti {

/// The coordinates of ranks in a shape. The first dimension varies fastest.
class Grid {
 public:
  explicit Grid(std::vector<std::uint32_t> sizes) : sizes_(std::move(sizes)) {
    std::uint32_t stride = 1;
    for (const std::uint32_t size : sizes_) {
      strides_.push_back(stride);
      stride *= size;
    }
  }

  [[nodiscard]] std::size_t dimensions() const { return sizes_.size(); }
  [[nodiscard]] std::uint32_t size(std::size_t dimension) const { return sizes_[dimension]; }
  [[nodiscard]] std::uint32_t stride(std::size_t dimension) const { return strides_[dimension]; }
  [[nodiscard]] std::uint32_t coordinate(Rank rank, std::size_t dimension) const {
    return rank / strides_[dimension] % sizes_[dimension];
  }
  /// The rank that differs from `rank` in one coordinate.
  [[nodiscard]] Rank moved(Rank rank, std::size_t dimension, std::uint32_t coordinate) const {
    return Rank{rank - this->coordinate(rank, dimension) * strides_[dimension] +
                coordinate * strides_[dimension]};
  }
  /// The ranks whose coordinates are in the given lists, one list per dimension, in ascending order
  /// if the lists are.
  [[nodiscard]] std::vector<Rank> ranks(
      const std::vector<std::vector<std::uint32_t>>& lists) const {
    std::vector<Rank> found{Rank{0}};
    for (std::size_t d = sizes_.size(); d-- > 0;) {
      std::vector<Rank> more;
      more.reserve(found.size() * lists[d].size());
      for (const Rank rank : found) {
        for (const std::uint32_t c : lists[d]) more.emplace_back(rank + c * strides_[d]);
      }
      found = std::move(more);
    }
    return found;
  }

 private:
  std::vector<std::uint32_t> sizes_;
  std::vector<std::uint32_t> strides_;
};

}  // namespace tutti
