// Compiled once for each kind of vector instructions that the CPU may have; see Highway's quick
// reference for what the macros do.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold.cpp"
#include "kernels/fold.hpp"

#include <cstring>
#include <type_traits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

// ------------------------------------------------------------------------------------ operations

struct Sum {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Add(a, b);
  }
};

struct Product {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};

/// Hardware differs in what the minimum of NaN and a number is, and in that of +0 and −0. This says
/// it: NaN wins, and of equals the first.
template <class Less>
struct Extremum {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    const auto second = hn::IfThenElse(Less::apply(b, a), b, a);
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
      return hn::IfThenElse(hn::IsNaN(b), hn::IfThenElse(hn::IsNaN(a), a, b), second);
    } else {
      return second;
    }
  }
};

struct Below {
  template <class V>
  HWY_INLINE static auto apply(V a, V b) {
    return hn::Lt(a, b);
  }
};

struct Above {
  template <class V>
  HWY_INLINE static auto apply(V a, V b) {
    return hn::Gt(a, b);
  }
};

using Minimum = Extremum<Below>;
using Maximum = Extremum<Above>;

struct BitAnd {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::And(a, b);
  }
};

struct BitOr {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Or(a, b);
  }
};

struct BitXor {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Xor(a, b);
  }
};

// ------------------------------------------------------------------------------------- the loops

/// The last few elements, fewer than a vector: through a vector's worth of memory of our own.
template <class Element, class Operation>
void fold_tail(void* out, void* copy, const void* const* in, std::size_t operands, std::size_t at,
               std::size_t count) {
  using T = typename Element::Stored;
  constexpr std::size_t most = HWY_MAX_BYTES / sizeof(T);
  HWY_ALIGN T left[most] = {};
  HWY_ALIGN T right[most] = {};
  const std::size_t bytes = count * sizeof(T);
  std::memcpy(left, static_cast<const T*>(in[0]) + at, bytes);
  auto sum = Element::load(left);
  for (std::size_t k = 1; k < operands; ++k) {
    std::memcpy(right, static_cast<const T*>(in[k]) + at, bytes);
    sum = Operation::apply(sum, Element::load(right));
  }
  Element::store(sum, left);
  std::memcpy(static_cast<T*>(out) + at, left, bytes);
  if (copy != nullptr) std::memcpy(static_cast<T*>(copy) + at, left, bytes);
}

template <class Element, class Operation>
void fold_all(void* out, void* copy, const void* const* in, std::size_t operands,
              std::size_t count) {
  using T = typename Element::Stored;
  const std::size_t lanes = hn::Lanes(typename Element::Tag());
  T* const to = static_cast<T*>(out);
  T* const also = static_cast<T*>(copy);
  std::size_t at = 0;
  if (operands == 2 && copy == nullptr) {
    // By far the most common: four vectors at a time keep both load ports busy.
    const T* const a = static_cast<const T*>(in[0]);
    const T* const b = static_cast<const T*>(in[1]);
    for (; at + 4 * lanes <= count; at += 4 * lanes) {
      const auto v0 = Operation::apply(Element::load(a + at), Element::load(b + at));
      const auto v1 =
          Operation::apply(Element::load(a + at + lanes), Element::load(b + at + lanes));
      const auto v2 =
          Operation::apply(Element::load(a + at + 2 * lanes), Element::load(b + at + 2 * lanes));
      const auto v3 =
          Operation::apply(Element::load(a + at + 3 * lanes), Element::load(b + at + 3 * lanes));
      Element::store(v0, to + at);
      Element::store(v1, to + at + lanes);
      Element::store(v2, to + at + 2 * lanes);
      Element::store(v3, to + at + 3 * lanes);
    }
  }
  // Each operand in turn adds to four vectors, so that going from one to the next costs little.
  for (; at + 4 * lanes <= count; at += 4 * lanes) {
    const T* from = static_cast<const T*>(in[0]) + at;
    auto v0 = Element::load(from);
    auto v1 = Element::load(from + lanes);
    auto v2 = Element::load(from + 2 * lanes);
    auto v3 = Element::load(from + 3 * lanes);
    for (std::size_t k = 1; k < operands; ++k) {
      from = static_cast<const T*>(in[k]) + at;
      v0 = Operation::apply(v0, Element::load(from));
      v1 = Operation::apply(v1, Element::load(from + lanes));
      v2 = Operation::apply(v2, Element::load(from + 2 * lanes));
      v3 = Operation::apply(v3, Element::load(from + 3 * lanes));
    }
    Element::store(v0, to + at);
    Element::store(v1, to + at + lanes);
    Element::store(v2, to + at + 2 * lanes);
    Element::store(v3, to + at + 3 * lanes);
    if (also == nullptr) continue;
    Element::store(v0, also + at);
    Element::store(v1, also + at + lanes);
    Element::store(v2, also + at + 2 * lanes);
    Element::store(v3, also + at + 3 * lanes);
  }
  while (at < count) {
    const std::size_t some = count - at < lanes ? count - at : lanes;
    fold_tail<Element, Operation>(out, copy, in, operands, at, some);
    at += some;
  }
}

/// Products of integers, for which vector instructions are few: the compiler finds what there is.
template <class T>
void multiply_all(void* out, void* copy, const void* const* in, std::size_t operands,
                  std::size_t count) {
  using U =
      std::make_unsigned_t<T>;  // Wraps on overflow; in 32 bits at least, lest it be promoted.
  using Wide = std::conditional_t<(sizeof(U) < sizeof(std::uint32_t)), std::uint32_t, U>;
  for (std::size_t i = 0; i < count; ++i) {
    U product = 0;
    std::memcpy(&product, static_cast<const U*>(in[0]) + i, sizeof product);
    for (std::size_t k = 1; k < operands; ++k) {
      U factor = 0;
      std::memcpy(&factor, static_cast<const U*>(in[k]) + i, sizeof factor);
      product = static_cast<U>(Wide{product} * Wide{factor});
    }
    std::memcpy(static_cast<U*>(out) + i, &product, sizeof product);
    if (copy != nullptr) std::memcpy(static_cast<U*>(copy) + i, &product, sizeof product);
  }
}

// ------------------------------------------------------------------------------------- the table

template <class Element>
Fold floating(Op op) {
  switch (op) {
    case Op::sum:
    case Op::avg:
      return fold_all<Element, Sum>;
    case Op::prod:
      return fold_all<Element, Product>;
    case Op::min:
      return fold_all<Element, Minimum>;
    case Op::max:
      return fold_all<Element, Maximum>;
    case Op::band:
    case Op::bor:
    case Op::bxor:
      break;
  }
  return nullptr;
}

template <class T>
Fold integral(Op op) {
  switch (op) {
    case Op::sum:
    case Op::avg:
      return fold_all<Plain<T>, Sum>;
    case Op::prod:
      return multiply_all<T>;
    case Op::min:
      return fold_all<Plain<T>, Minimum>;
    case Op::max:
      return fold_all<Plain<T>, Maximum>;
    case Op::band:
      return fold_all<Plain<T>, BitAnd>;
    case Op::bor:
      return fold_all<Plain<T>, BitOr>;
    case Op::bxor:
      return fold_all<Plain<T>, BitXor>;
  }
  return nullptr;
}

Fold choose(DType dtype, Op op) {
  switch (dtype) {
    case DType::i8:
      return integral<std::int8_t>(op);
    case DType::u8:
      return integral<std::uint8_t>(op);
    case DType::i32:
      return integral<std::int32_t>(op);
    case DType::u32:
      return integral<std::uint32_t>(op);
    case DType::i64:
      return integral<std::int64_t>(op);
    case DType::u64:
      return integral<std::uint64_t>(op);
    case DType::f16:
      return floating<Binary16>(op);
    case DType::bf16:
      return floating<Brain>(op);
    case DType::f32:
      return floating<Plain<float>>(op);
    case DType::f64:
      return floating<Plain<double>>(op);
  }
  return nullptr;
}

const char* target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tutti {

HWY_EXPORT(choose);
HWY_EXPORT(target);

Fold fold(DType dtype, Op op) { return HWY_DYNAMIC_DISPATCH(choose)(dtype, op); }

const char* fold_target() { return HWY_DYNAMIC_DISPATCH(target)(); }

}  // namespace tutti

#endif  // HWY_ONCE
