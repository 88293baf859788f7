#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <tutti/error.hpp>
#include <tutti/op.hpp>

namespace tutti {

/// How contributions are combined: one of tutti's own ways, or a function of the caller's.
class Reduction {
 public:
  /// accumulator[i] = accumulator[i] ⊕ contribution[i] for `count` elements. ⊕ must be associative
  /// and commutative, since the order of contributions is that of the algorithm; with
  /// Reproducible::order it is that of ranks, and ⊕ may be any function.
  using Combine =
      std::function<void(void* accumulator, const void* contribution, std::size_t count)>;

  Reduction(Op op = Op::sum) : op_(op) {}  // NOLINT(google-explicit-constructor): an op is one.
  /// A call with an empty function throws invalid_argument.
  explicit Reduction(Combine combine)
      : combine_(std::make_shared<const Combine>(std::move(combine))) {}

  [[nodiscard]] Op op() const { return op_; }
  /// Null unless it is the caller's.
  [[nodiscard]] const std::shared_ptr<const Combine>& combine() const { return combine_; }

 private:
  Op op_ = Op::sum;
  std::shared_ptr<const Combine> combine_;
};

/// A reduction from a function of two elements: tutti::reduction<Matrix>(std::plus<>{}).
/// Throws invalid_argument if the function is empty.
template <class T, class F>
[[nodiscard]] Reduction reduction(F f) {
  if constexpr (requires { f == nullptr; }) {
    if (f == nullptr) {
      throw Error(ErrorCode::invalid_argument, "the function to combine by is empty");
    }
  }
  return Reduction(
      Reduction::Combine([f](void* accumulator, const void* contribution, std::size_t count) {
        T* const to = static_cast<T*>(accumulator);
        const T* const from = static_cast<const T*>(contribution);
        for (std::size_t i = 0; i < count; ++i) to[i] = f(to[i], from[i]);
      }));
}

}  // namespace tutti
