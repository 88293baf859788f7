// The loops of folds. foreach_target.h compiles the including files once per vector instruction
// set, hence the special include guard.
#if defined(TUTTI_KERNELS_FOLD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_FOLD_INL
#undef TUTTI_KERNELS_FOLD_INL
#else
#define TUTTI_KERNELS_FOLD_INL
#endif

#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

#include "core/short_copy.hpp"
#include "kernels/elements-inl.hpp"
#include "kernels/fold.hpp"
#include "kernels/operations-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {

/// Folds a vector of at most `most` elements, and returns how many it has.
template <std::size_t most, class T, class Operation>
HWY_INLINE std::size_t fold_few(void* out, void* copy, const void* const* in, std::size_t operands,
                                std::size_t at) {
  const hn::CappedTag<T, most> tag;
  auto sum = load_bytes(tag, static_cast<const T*>(in[0]) + at);
  for (std::size_t k = 1; k < operands; ++k) {
    sum = Operation::apply(sum, load_bytes(tag, static_cast<const T*>(in[k]) + at));
  }
  store_bytes(sum, tag, static_cast<T*>(out) + at);
  if (copy != nullptr) store_bytes(sum, tag, static_cast<T*>(copy) + at);
  return hn::Lanes(tag);
}

/// Folds the last elements, fewer than a vector, in shorter and shorter vectors.
template <class T, class Operation>
void fold_last(void* out, void* copy, const void* const* in, std::size_t operands, std::size_t at,
               std::size_t end) {
  constexpr std::size_t in_sixteen_bytes = 16 / sizeof(T);
  constexpr std::size_t in_eight_bytes = 8 / sizeof(T);
  while (end - at >= in_sixteen_bytes) {
    at += fold_few<in_sixteen_bytes, T, Operation>(out, copy, in, operands, at);
  }
  if constexpr (in_eight_bytes >= least_lanes<Operation>) {
    while (end - at >= in_eight_bytes) {
      at += fold_few<in_eight_bytes, T, Operation>(out, copy, in, operands, at);
    }
  }
  if constexpr (least_lanes<Operation> == 1) {
    while (end > at) at += fold_few<1, T, Operation>(out, copy, in, operands, at);
  }
}

/// The same through local buffers of one vector, for elements that are converted.
template <class Element, class Operation>
void fold_tail(void* out, void* copy, const void* const* in, std::size_t operands, std::size_t at,
               std::size_t count) {
  using T = typename Element::Stored;
  constexpr std::size_t most = HWY_MAX_BYTES / sizeof(T);
  HWY_ALIGN T left[most] = {};
  HWY_ALIGN T right[most] = {};
  const std::size_t bytes = count * sizeof(T);
  short_copy<sizeof left>(left, static_cast<const T*>(in[0]) + at, bytes);
  auto sum = Element::load(left);
  for (std::size_t k = 1; k < operands; ++k) {
    short_copy<sizeof right>(right, static_cast<const T*>(in[k]) + at, bytes);
    sum = Operation::apply(sum, Element::load(right));
  }
  Element::store(sum, left);
  short_copy<sizeof left>(static_cast<T*>(out) + at, left, bytes);
  if (copy != nullptr) short_copy<sizeof left>(static_cast<T*>(copy) + at, left, bytes);
}

template <class Element, class Operation>
void fold_all(void* out, void* copy, const void* const* in, std::size_t operands,
              std::size_t count) {
  using T = typename Element::Stored;
  const std::size_t lanes = hn::Lanes(typename Element::Tag());
  T* const to = static_cast<T*>(out);
  T* const also = static_cast<T*>(copy);
  // The emulation is for CPUs without vectors. Unrolled, it takes minutes to compile.
  constexpr bool is_unrolled = HWY_TARGET != HWY_EMU128;
  std::size_t at = 0;
  if (is_unrolled && operands == 2 && copy == nullptr) {
    // By far the most common case: four vectors at a time keep both load ports busy.
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
  // Each operand is combined with four vectors at a time, so that switching operands is cheap.
  for (; is_unrolled && at + 4 * lanes <= count; at += 4 * lanes) {
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
  for (; at + lanes <= count; at += lanes) {
    auto v = Element::load(static_cast<const T*>(in[0]) + at);
    for (std::size_t k = 1; k < operands; ++k) {
      v = Operation::apply(v, Element::load(static_cast<const T*>(in[k]) + at));
    }
    Element::store(v, to + at);
    if (also != nullptr) Element::store(v, also + at);
  }
  if (at == count) return;
  if constexpr (std::is_same_v<Element, Plain<T>>) {
    fold_last<T, Operation>(out, copy, in, operands, at, count);
  } else {
    fold_tail<Element, Operation>(out, copy, in, operands, at, count - at);
  }
}

/// Products of integers. There are few vector instructions for them, so the compiler vectorises.
template <class U>
void multiply_all(void* out, void* copy, const void* const* in, std::size_t operands,
                  std::size_t count) {
  // Unsigned, so that overflow wraps; at least 32 bits, to avoid promotion to int.
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

/// The same for elements with `parts` parts that are folded separately, such as the bytes of a
/// bitwise operation or the two numbers of a complex sum.
template <class Element, class Operation, std::size_t parts>
void fold_parts(void* out, void* copy, const void* const* in, std::size_t operands,
                std::size_t count) {
  fold_all<Element, Operation>(out, copy, in, operands, count * parts);
}

template <class Element>
Fold floating_fold(Op op) {
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

/// Signed and unsigned integers differ only in min and max.
template <class T>
Fold integral_fold(Op op) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case Op::sum:
    case Op::avg:
      return fold_all<Plain<U>, Sum>;
    case Op::prod:
      return multiply_all<U>;
    case Op::min:
      return fold_all<Plain<T>, Minimum>;
    case Op::max:
      return fold_all<Plain<T>, Maximum>;
    case Op::band:
      return fold_parts<Plain<std::uint8_t>, BitAnd, sizeof(T)>;
    case Op::bor:
      return fold_parts<Plain<std::uint8_t>, BitOr, sizeof(T)>;
    case Op::bxor:
      return fold_parts<Plain<std::uint8_t>, BitXor, sizeof(T)>;
  }
  return nullptr;
}

/// Complex numbers of two T.
template <class T>
Fold complex_fold(Op op) {
  switch (op) {
    case Op::sum:
    case Op::avg:
      return fold_parts<Plain<T>, Sum, 2>;
    case Op::prod:
      return fold_parts<Plain<T>, ComplexProduct, 2>;
    case Op::min:
    case Op::max:
    case Op::band:
    case Op::bor:
    case Op::bxor:
      break;
  }
  return nullptr;
}

}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
