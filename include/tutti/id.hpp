#pragma once

#include <compare>

namespace tutti {

/// An index that knows what it counts: an `Id` of one kind does not turn into another, nor into
/// a number, without saying so.
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
