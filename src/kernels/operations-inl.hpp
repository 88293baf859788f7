// Operations that combine two vectors. foreach_target.h compiles the including files once per
// vector instruction set, hence the special include guard.
#if defined(TUTTI_KERNELS_OPERATIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_OPERATIONS_INL
#undef TUTTI_KERNELS_OPERATIONS_INL
#else
#define TUTTI_KERNELS_OPERATIONS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

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

/// The only NaN that minima and maxima return.
template <class V>
HWY_INLINE V quiet_nan() {
  const hn::DFromV<V> tag;
  const hn::RebindToSigned<hn::DFromV<V>> bits;
  using Bits = hn::TFromD<decltype(bits)>;
  return hn::BitCast(tag, hn::Set(bits, sizeof(Bits) == 4 ? static_cast<Bits>(0x7FC00000)
                                                          : static_cast<Bits>(0x7FF8000000000000)));
}

/// CPUs differ in the minimum of NaN and a number, and of +0 and −0. These are the minimum and
/// maximum of IEEE 754-2019, with −0 below +0 and a single NaN, so that the bits of the result do
/// not depend on the order of operands.
template <class Less>
struct Extremum {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    const auto nearer = hn::IfThenElse(Less::apply(b, a), b, a);
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
      // Only zeros can compare equal with different bits.
      const auto number = hn::IfThenElse(hn::Eq(a, b), Less::of_zeros(a, b), nearer);
      return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), quiet_nan<V>(), number);
    } else {
      return nearer;
    }
  }
};

struct Below {
  template <class V>
  HWY_INLINE static auto apply(V a, V b) {
    return hn::Lt(a, b);
  }
  template <class V>
  HWY_INLINE static V of_zeros(V a, V b) {
    return hn::Or(a, b);
  }
};

struct Above {
  template <class V>
  HWY_INLINE static auto apply(V a, V b) {
    return hn::Gt(a, b);
  }
  template <class V>
  HWY_INLINE static V of_zeros(V a, V b) {
    return hn::And(a, b);
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

/// The product of complex numbers whose parts alternate, real part first.
struct ComplexProduct {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    const V by_real = hn::Mul(hn::DupEven(a), b);                                     // ac, ad, …
    const V by_imaginary = hn::Mul(hn::DupOdd(a), hn::Reverse2(hn::DFromV<V>(), b));  // bd, bc, …
    return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
  }
};

/// The fewest lanes of a vector that an operation accepts.
template <class Operation>
inline constexpr std::size_t least_lanes = 1;
template <>
inline constexpr std::size_t least_lanes<ComplexProduct> = 2;

}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
