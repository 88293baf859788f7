// The loops of exact sums. foreach_target.h compiles the including files once per vector
// instruction set, hence the special include guard.
#if defined(TUTTI_KERNELS_EXACT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_EXACT_INL
#undef TUTTI_KERNELS_EXACT_INL
#else
#define TUTTI_KERNELS_EXACT_INL
#endif

#include <algorithm>
#include <bit>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/elements-inl.hpp"
#include "kernels/exact_fold.hpp"
#include "kernels/exact_sum.hpp"
#include "kernels/operations-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {

/// Recomputes the sums that were not exact, and stores all of them.
template <class T>
void store_mended(T* sums, const std::uint8_t* is_exact, const FloatFormat& format, void* out,
                  void* copy, const void* const* in, std::size_t operands, std::size_t at,
                  std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (is_exact[i] != 0) continue;
    const std::uint64_t bits = exact_sum(format, in, operands, at + i);
    std::memcpy(sums + i, &bits, sizeof(T));
  }
  std::memcpy(static_cast<T*>(out) + at, sums, count * sizeof(T));
  if (copy != nullptr) std::memcpy(static_cast<T*>(copy) + at, sums, count * sizeof(T));
}

/// Two operands: one addition gives the exact sum, rounded once.
struct ExactPair {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    // −0 + −0 is −0; adding +0 makes it +0.
    const V sum = hn::Add(hn::Add(a, b), hn::Zero(hn::DFromV<V>()));
    return hn::IfThenElse(hn::IsNaN(sum), quiet_nan<V>(), sum);
  }
};

// ----------------------------------------------------------------------- error-free addition

/// The rounding error of a sum: Knuth's TwoSum.
template <class V>
HWY_INLINE V error_of_sum(V a, V b, V sum) {
  const V from_b = hn::Sub(sum, a);
  return hn::Add(hn::Sub(a, hn::Sub(sum, from_b)), hn::Sub(b, from_b));
}

/// The sum of two f64, rounded to odd: an inexact sum becomes the neighbour whose last bit is set.
/// Rounding it again to fewer bits then gives the same result as a single rounding (Boldo and
/// Melquiond, "Emulation of a FMA and correctly rounded sums", IEEE TC 57, 2008).
template <class V>
HWY_INLINE V odd_sum(V a, V b) {
  const hn::DFromV<V> tag;
  const hn::RebindToSigned<hn::DFromV<V>> bits;
  const V sum = hn::Add(a, b);
  const V error = error_of_sum(a, b, sum);
  // Go to the neighbour on the side of the error: one up in magnitude if the signs are equal.
  const auto sign = hn::BitCast(bits, hn::Xor(sum, error));
  const auto step = hn::Or(hn::ShiftRight<63>(sign), hn::Set(bits, 1));
  const auto nearest = hn::BitCast(bits, sum);
  const auto is_odd = hn::Ne(hn::And(nearest, hn::Set(bits, 1)), hn::Zero(bits));
  const auto is_exact = hn::RebindMask(bits, hn::Eq(error, hn::Zero(tag)));
  return hn::BitCast(tag,
                     hn::IfThenElse(hn::Or(is_odd, is_exact), nearest, hn::Add(nearest, step)));
}

/// Compensated sums of f64: the rounded running sum, the sum of its rounding errors, and so on.
struct Carried {
  /// Adds `x` to `sum` and returns the rounding error.
  template <class V>
  HWY_INLINE static V add(V& sum, V x) {
    const V next = hn::Add(sum, x);
    const V error = error_of_sum(sum, x, next);
    sum = next;
    return error;
  }
};

// ------------------------------------------------------------------------------------------- f32

/// Adds f32, and f16 and bf16 converted to f32, in f64. The sum is exact if the addends of an
/// element have similar exponents: all are multiples of the last place of the smallest non-zero
/// one, and the sum is below their number times the next power of two above the largest.
template <class Element>
struct Narrow {
  using T = typename Element::Stored;
  using Single = hn::ScalableTag<float>;
  using Bits = hn::RebindToUnsigned<Single>;
  using Signed = hn::RebindToSigned<Single>;
  using Part = hn::Half<Single>;
  using Double = hn::RepartitionToWide<Single>;

  static constexpr bool is_half = sizeof(T) == 2;

  HWY_INLINE static auto lower(hn::Vec<Single> x) {
    return hn::PromoteTo(Double(), hn::LowerHalf(Part(), x));
  }
  HWY_INLINE static auto upper(hn::Vec<Single> x) {
    return hn::PromoteTo(Double(), hn::UpperHalf(Part(), x));
  }
  HWY_INLINE static auto magnitude(hn::Vec<Single> x) {
    return hn::And(hn::BitCast(Bits(), x), hn::Set(Bits(), 0x7FFFFFFF));
  }
  /// magnitude − 1; for zero it wraps to the largest value.
  HWY_INLINE static auto below(hn::Vec<Bits> magnitude) {
    return hn::Sub(magnitude, hn::Set(Bits(), 1));
  }

  /// Rounds to odd, so that another rounding to fewer bits gives the same result as a single one.
  HWY_INLINE static auto to_odd(hn::Vec<Double> sum) {
    const hn::RebindToUnsigned<Double> tag;
    constexpr std::uint64_t last = std::uint64_t{1} << 29;
    const auto bits = hn::BitCast(tag, sum);
    const auto rest = hn::And(bits, hn::Set(tag, last - 1));
    const auto sticky = hn::IfThenZeroElse(hn::Eq(rest, hn::Zero(tag)), hn::Set(tag, last));
    return hn::BitCast(Double(), hn::Or(hn::Xor(bits, rest), sticky));
  }
  HWY_INLINE static auto rounded(hn::Vec<Double> low, hn::Vec<Double> high) {
    if constexpr (is_half) {
      return hn::Combine(Single(), to_single(to_odd(high)), to_single(to_odd(low)));
    } else {
      return hn::Combine(Single(), to_single(high), to_single(low));
    }
  }
  /// What is too large becomes infinite, which Highway's emulation of vectors does not see to.
  HWY_INLINE static hn::Vec<Part> to_single(hn::Vec<Double> x) {
    if constexpr (HWY_TARGET < HWY_EMU128) {
      return hn::DemoteTo(Part(), x);
    } else {
      HWY_ALIGN double from[HWY_MAX_BYTES / sizeof(double)];
      HWY_ALIGN float to[HWY_MAX_BYTES / sizeof(double)];
      hn::Store(x, Double(), from);
      for (std::size_t i = 0; i < hn::Lanes(Double()); ++i) to[i] = static_cast<float>(from[i]);
      return hn::Load(Part(), to);
    }
  }

  /// For very small results bf16 would be rounded twice, because f32 rounds there as well. Marks
  /// those as inexact and leaves `lost` unchanged otherwise.
  HWY_INLINE static auto unless_rounded_twice(hn::Vec<Double> sum, hn::Vec<Double> lost) {
    if constexpr (!is_half) return lost;
    const Double tag;
    const auto is_small = hn::Lt(hn::Abs(sum), hn::Set(tag, 0x1p-118));
    const auto is_zero = hn::Eq(sum, hn::Zero(tag));
    return hn::IfThenElse(hn::AndNot(is_zero, is_small), hn::Set(tag, 1), lost);
  }

  /// True if the sums are exact, from the largest magnitude, the minimum of below(), and the
  /// greatest allowed distance of exponents.
  HWY_INLINE static auto is_exact(hn::Vec<Bits> largest, hn::Vec<Bits> least, std::int32_t apart) {
    const Signed tag;
    const auto smallest = hn::ShiftRight<23>(hn::Add(least, hn::Set(Bits(), 1)));
    const auto range = hn::BitCast(tag, hn::Sub(hn::ShiftRight<23>(largest), smallest));
    const auto near = hn::Lt(range, hn::Set(tag, apart + 1));
    const auto finite = hn::Lt(hn::BitCast(tag, largest), hn::Set(tag, 0x7F800000));
    const auto exact = hn::And(near, finite);
    if constexpr (!is_half) return exact;
    // For very small bf16 numbers f32 rounds as well; far above them it does not.
    const auto exponents = hn::BitCast(tag, hn::ShiftRight<23>(least));
    return hn::And(exact, hn::Gt(exponents, hn::Set(tag, 15)));
  }
};

constexpr std::int32_t exponents_apart(const FloatFormat& format, std::size_t operands) {
  return 53 - format.precision - static_cast<std::int32_t>(std::bit_width(operands - 1));
}

/// Computes up to one vector of sums, checks each of them, and carries them in two f64.
template <class Element>
HWY_NOINLINE void exact_narrow_few(const FloatFormat& format, void* out, void* copy,
                                   const void* const* in, std::size_t operands, std::size_t at,
                                   std::size_t count) {
  using N = Narrow<Element>;
  using T = typename Element::Stored;
  const typename N::Double tag;
  const hn::RebindToUnsigned<typename N::Double> bits;
  constexpr std::size_t most = HWY_MAX_BYTES / sizeof(float);
  HWY_ALIGN T memory[most] = {};
  auto low = hn::Zero(tag);
  auto high = low;
  auto low_rest = low;
  auto high_rest = low;
  auto low_lost = low;
  auto high_lost = low;
  for (std::size_t k = 0; k < operands; ++k) {
    std::memcpy(memory, static_cast<const T*>(in[k]) + at, count * sizeof(T));
    const auto x = Element::load(memory);
    low_lost = hn::Or(low_lost, Carried::add(low_rest, Carried::add(low, N::lower(x))));
    high_lost = hn::Or(high_lost, Carried::add(high_rest, Carried::add(high, N::upper(x))));
  }
  low = odd_sum(low, low_rest);
  high = odd_sum(high, high_rest);
  HWY_ALIGN std::uint64_t lost[most];
  hn::Store(hn::BitCast(bits, N::unless_rounded_twice(low, low_lost)), bits, lost);
  hn::Store(hn::BitCast(bits, N::unless_rounded_twice(high, high_lost)), bits,
            lost + hn::Lanes(tag));
  std::uint8_t is_exact[most];
  for (std::size_t i = 0; i < count; ++i) is_exact[i] = lost[i] == 0 ? 1 : 0;
  Element::store(N::rounded(low, high), memory);
  store_mended(memory, is_exact, format, out, copy, in, operands, at, count);
}

template <class Element>
void exact_narrow(const FloatFormat& format, void* out, void* copy, const void* const* in,
                  std::size_t operands, std::size_t count) {
  using N = Narrow<Element>;
  using T = typename Element::Stored;
  const std::size_t lanes = hn::Lanes(typename N::Single());
  const std::int32_t apart = exponents_apart(format, operands);
  T* const to = static_cast<T*>(out);
  T* const also = static_cast<T*>(copy);
  std::size_t at = 0;
  for (; at + 4 * lanes <= count; at += 4 * lanes) {
    auto low0 = hn::Zero(typename N::Double());
    auto low1 = low0;
    auto low2 = low0;
    auto low3 = low0;
    auto high0 = low0;
    auto high1 = low0;
    auto high2 = low0;
    auto high3 = low0;
    // Kept for four vectors together: most elements have similar magnitudes.
    auto largest = hn::Zero(typename N::Bits());
    auto least = hn::Set(typename N::Bits(), ~std::uint32_t{0});
    for (std::size_t k = 0; k < operands; ++k) {
      const T* const from = static_cast<const T*>(in[k]) + at;
      const auto x0 = Element::load(from);
      const auto x1 = Element::load(from + lanes);
      const auto x2 = Element::load(from + 2 * lanes);
      const auto x3 = Element::load(from + 3 * lanes);
      const auto magnitude0 = N::magnitude(x0);
      const auto magnitude1 = N::magnitude(x1);
      const auto magnitude2 = N::magnitude(x2);
      const auto magnitude3 = N::magnitude(x3);
      const auto most = hn::Max(hn::Max(magnitude0, magnitude1), hn::Max(magnitude2, magnitude3));
      const auto below01 = hn::Min(N::below(magnitude0), N::below(magnitude1));
      const auto below23 = hn::Min(N::below(magnitude2), N::below(magnitude3));
      largest = hn::Max(largest, most);
      least = hn::Min(least, hn::Min(below01, below23));
      low0 = hn::Add(low0, N::lower(x0));
      low1 = hn::Add(low1, N::lower(x1));
      low2 = hn::Add(low2, N::lower(x2));
      low3 = hn::Add(low3, N::lower(x3));
      high0 = hn::Add(high0, N::upper(x0));
      high1 = hn::Add(high1, N::upper(x1));
      high2 = hn::Add(high2, N::upper(x2));
      high3 = hn::Add(high3, N::upper(x3));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(typename N::Signed(), N::is_exact(largest, least, apart)))) {
      for (std::size_t i = 0; i < 4; ++i) {
        exact_narrow_few<Element>(format, out, copy, in, operands, at + i * lanes, lanes);
      }
      continue;
    }
    const auto sum0 = N::rounded(low0, high0);
    const auto sum1 = N::rounded(low1, high1);
    const auto sum2 = N::rounded(low2, high2);
    const auto sum3 = N::rounded(low3, high3);
    Element::store(sum0, to + at);
    Element::store(sum1, to + at + lanes);
    Element::store(sum2, to + at + 2 * lanes);
    Element::store(sum3, to + at + 3 * lanes);
    if (also == nullptr) continue;
    Element::store(sum0, also + at);
    Element::store(sum1, also + at + lanes);
    Element::store(sum2, also + at + 2 * lanes);
    Element::store(sum3, also + at + 3 * lanes);
  }
  for (; at < count; at += lanes) {
    exact_narrow_few<Element>(format, out, copy, in, operands, at, std::min(lanes, count - at));
  }
}

// ------------------------------------------------------------------------------------------- f64

using Double64 = Plain<double>;

/// Computes up to one vector of sums, checks each of them, and carries them in three f64.
inline HWY_NOINLINE void exact_wide_few(void* out, void* copy, const void* const* in,
                                        std::size_t operands, std::size_t at, std::size_t count) {
  const Double64::Tag tag;
  const hn::RebindToUnsigned<Double64::Tag> bits;
  constexpr std::size_t most = HWY_MAX_BYTES / sizeof(double);
  HWY_ALIGN double memory[most] = {};
  auto sum = hn::Zero(tag);
  auto rest = sum;
  auto last = sum;
  auto lost = sum;
  for (std::size_t k = 0; k < operands; ++k) {
    std::memcpy(memory, static_cast<const double*>(in[k]) + at, count * sizeof(double));
    const auto error = Carried::add(sum, Double64::load(memory));
    lost = hn::Or(lost, Carried::add(last, Carried::add(rest, error)));
  }
  // Rounds the sum of the three once, by the method of Boldo and Melquiond.
  const auto rest_error = Carried::add(rest, last);
  const auto sum_error = Carried::add(sum, rest);
  sum = hn::Add(sum, odd_sum(sum_error, rest_error));
  // Infinities and intermediate overflows count as inexact.
  lost = hn::Or(lost, hn::Sub(sum, sum));
  HWY_ALIGN std::uint64_t flags[most];
  hn::Store(hn::BitCast(bits, lost), bits, flags);
  std::uint8_t is_exact[most];
  for (std::size_t i = 0; i < count; ++i) is_exact[i] = flags[i] == 0 ? 1 : 0;
  Double64::store(sum, memory);
  store_mended(memory, is_exact, f64_format, out, copy, in, operands, at, count);
}

/// Carries sums of f64 in two f64. The result is exact if the sum of the rounding errors is itself
/// not rounded.
inline void exact_wide(void* out, void* copy, const void* const* in, std::size_t operands,
                       std::size_t count) {
  const Double64::Tag tag;
  const hn::RebindToUnsigned<Double64::Tag> bits;
  const std::size_t lanes = hn::Lanes(tag);
  double* const to = static_cast<double*>(out);
  double* const also = static_cast<double*>(copy);
  std::size_t at = 0;
  // Not for a single operand: it may be a NaN, which the check of `lost` would miss.
  for (; operands > 1 && at + 2 * lanes <= count; at += 2 * lanes) {
    auto sum0 = Double64::load(static_cast<const double*>(in[0]) + at);
    auto sum1 = Double64::load(static_cast<const double*>(in[0]) + at + lanes);
    auto rest0 = hn::Zero(tag);
    auto rest1 = rest0;
    auto lost = hn::Zero(tag);
    for (std::size_t k = 1; k < operands; ++k) {
      const double* const from = static_cast<const double*>(in[k]) + at;
      const auto x0 = Double64::load(from);
      const auto x1 = Double64::load(from + lanes);
      lost = hn::Or(lost, Carried::add(rest0, Carried::add(sum0, x0)));
      lost = hn::Or(lost, Carried::add(rest1, Carried::add(sum1, x1)));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(bits, hn::Eq(hn::BitCast(bits, lost), hn::Zero(bits))))) {
      exact_wide_few(out, copy, in, operands, at, lanes);
      exact_wide_few(out, copy, in, operands, at + lanes, lanes);
      continue;
    }
    sum0 = hn::Add(sum0, rest0);
    sum1 = hn::Add(sum1, rest1);
    Double64::store(sum0, to + at);
    Double64::store(sum1, to + at + lanes);
    if (also == nullptr) continue;
    Double64::store(sum0, also + at);
    Double64::store(sum1, also + at + lanes);
  }
  for (; at < count; at += lanes) {
    exact_wide_few(out, copy, in, operands, at, std::min(lanes, count - at));
  }
}

}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
