#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <tutti/error.hpp>
#include <tutti/op.hpp>

namespace tutti {

/// How contributions are combined: by a built-in Op or by a function of the caller.
class Reduction {
 public:
  /// Computes accumulator[i] = accumulator[i] ⊕ contribution[i] for `count` elements. ⊕ must be
  /// associative and commutative, because the algorithm determines the order of contributions. With
  /// Reproducible::order the order is that of ranks, and ⊕ may be any function.
  using Combine =
      std::function<void(void* accumulator, const void* contribution, std::size_t count)>;

  Reduction(Op op = Op::sum)
      : op_(op) {}  // NOLINT(google-explicit-constructor): an Op is a Reduction.
  /// Any call that uses an empty function throws invalid_argument.
  explicit Reduction(Combine combine)
      : combine_(std::make_shared<const Combine>(std::move(combine))) {}

  [[nodiscard]] Op op() const { return op_; }
  /// The function of the caller; null for a built-in Op.
  [[nodiscard]] const std::shared_ptr<const Combine>& combine() const { return combine_; }

 private:
  Op op_ = Op::sum;
  std::shared_ptr<const Combine> combine_;
};

/// Makes a reduction from a function of two elements: tutti::reduction<Matrix>(std::plus<>{}).
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
