#pragma once

#include <compare>

namespace tutti {

/// A typed index. An `Id` with one tag does not convert implicitly to an `Id` with another tag or
/// to a number.
template <class Tag, class Index>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(Index index) : index_(index) {}

  [[nodiscard]] constexpr Index index() const { return index_; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  Index index_ = 0;
};

}  // namespace tutti
