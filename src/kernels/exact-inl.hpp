// The loops of exact sums, for every kind of vector instructions: included again by each file that
// foreach_target.h compiles again, hence the guard of its own kind.
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

/// Puts right those of the sums that were not exact, and stores all of them.
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

/// Two operands: an addition is the exact sum, rounded.
struct ExactPair {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    // Of −0 and −0, −0; and +0 of that and +0.
    const V sum = hn::Add(hn::Add(a, b), hn::Zero(hn::DFromV<V>()));
    return hn::IfThenElse(hn::IsNaN(sum), quiet_nan<V>(), sum);
  }
};

// ------------------------------------------------------------------------------------------- f32

/// f32, and f16 and bf16 as f32, are added up in f64. That is exact if the numbers of an element
/// are not too far apart: all are multiples of the last place of the smallest of them that is not
/// zero, and the sum is below their number times the next power of two above the largest.
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
  /// Of zero, the largest there is.
  HWY_INLINE static auto below(hn::Vec<Bits> magnitude) {
    return hn::Sub(magnitude, hn::Set(Bits(), 1));
  }

  /// Rounds to odd, so that another rounding, to fewer bits, is as if it were the only one.
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
      return hn::Combine(Single(), hn::DemoteTo(Part(), to_odd(high)),
                         hn::DemoteTo(Part(), to_odd(low)));
    } else {
      return hn::Combine(Single(), hn::DemoteTo(Part(), high), hn::DemoteTo(Part(), low));
    }
  }

  /// From the largest magnitude, the least of `below`, and how far exponents may be apart.
  HWY_INLINE static auto is_exact(hn::Vec<Bits> largest, hn::Vec<Bits> least, std::int32_t apart) {
    const Signed tag;
    const auto smallest = hn::ShiftRight<23>(hn::Add(least, hn::Set(Bits(), 1)));
    const auto range = hn::BitCast(tag, hn::Sub(hn::ShiftRight<23>(largest), smallest));
    const auto near = hn::Lt(range, hn::Set(tag, apart + 1));
    const auto finite = hn::Lt(hn::BitCast(tag, largest), hn::Set(tag, 0x7F800000));
    const auto exact = hn::And(near, finite);
    if constexpr (!is_half) return exact;
    // bf16 has numbers that f32 rounds as well; far above them it does not.
    const auto exponents = hn::BitCast(tag, hn::ShiftRight<23>(least));
    return hn::And(exact, hn::Gt(exponents, hn::Set(tag, 15)));
  }
};

constexpr std::int32_t exponents_apart(const FloatFormat& format, std::size_t operands) {
  return 53 - format.precision - static_cast<std::int32_t>(std::bit_width(operands - 1));
}

/// Up to a vector of sums, each looked at by itself.
template <class Element>
HWY_NOINLINE void exact_narrow_few(const FloatFormat& format, void* out, void* copy,
                                   const void* const* in, std::size_t operands, std::size_t at,
                                   std::size_t count) {
  using N = Narrow<Element>;
  using T = typename Element::Stored;
  constexpr std::size_t most = HWY_MAX_BYTES / sizeof(float);
  HWY_ALIGN T memory[most] = {};
  auto low = hn::Zero(typename N::Double());
  auto high = low;
  auto largest = hn::Zero(typename N::Bits());
  auto least = hn::Set(typename N::Bits(), ~std::uint32_t{0});
  for (std::size_t k = 0; k < operands; ++k) {
    std::memcpy(memory, static_cast<const T*>(in[k]) + at, count * sizeof(T));
    const auto x = Element::load(memory);
    const auto magnitude = N::magnitude(x);
    largest = hn::Max(largest, magnitude);
    least = hn::Min(least, N::below(magnitude));
    low = hn::Add(low, N::lower(x));
    high = hn::Add(high, N::upper(x));
  }
  const auto exact = N::is_exact(largest, least, exponents_apart(format, operands));
  HWY_ALIGN std::int32_t flags[most];
  const typename N::Signed tag;
  hn::Store(hn::IfThenElseZero(exact, hn::Set(tag, 1)), tag, flags);
  std::uint8_t is_exact[most];
  for (std::size_t i = 0; i < count; ++i) is_exact[i] = static_cast<std::uint8_t>(flags[i]);
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
    // Of four elements together: most of them are as large.
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

/// f64 are added up in two f64: the sum as it is rounded on the way, and the sum of what rounding
/// took away. Both together are exact if the latter needs no rounding itself.
template <class V>
HWY_INLINE V error_of_sum(V a, V b, V sum) {
  // Knuth's TwoSum.
  const V from_b = hn::Sub(sum, a);
  return hn::Add(hn::Sub(a, hn::Sub(sum, from_b)), hn::Sub(b, from_b));
}

using Double64 = Plain<double>;

/// Up to a vector of sums, each looked at by itself.
inline HWY_NOINLINE void exact_wide_few(void* out, void* copy, const void* const* in,
                                        std::size_t operands, std::size_t at, std::size_t count) {
  const Double64::Tag tag;
  const hn::RebindToUnsigned<Double64::Tag> bits;
  constexpr std::size_t most = HWY_MAX_BYTES / sizeof(double);
  HWY_ALIGN double memory[most] = {};
  auto sum = hn::Zero(tag);
  auto rest = sum;
  auto lost = hn::Zero(bits);
  for (std::size_t k = 0; k < operands; ++k) {
    std::memcpy(memory, static_cast<const double*>(in[k]) + at, count * sizeof(double));
    const auto x = Double64::load(memory);
    const auto next = hn::Add(sum, x);
    const auto error = error_of_sum(sum, x, next);
    const auto more = hn::Add(rest, error);
    lost = hn::Or(lost, hn::BitCast(bits, error_of_sum(rest, error, more)));
    sum = next;
    rest = more;
  }
  HWY_ALIGN std::uint64_t flags[most];
  hn::Store(lost, bits, flags);
  std::uint8_t is_exact[most];
  for (std::size_t i = 0; i < count; ++i) is_exact[i] = flags[i] == 0 ? 1 : 0;
  Double64::store(hn::Add(sum, rest), memory);
  store_mended(memory, is_exact, f64_format, out, copy, in, operands, at, count);
}

inline void exact_wide(void* out, void* copy, const void* const* in, std::size_t operands,
                       std::size_t count) {
  const Double64::Tag tag;
  const hn::RebindToUnsigned<Double64::Tag> bits;
  const std::size_t lanes = hn::Lanes(tag);
  double* const to = static_cast<double*>(out);
  double* const also = static_cast<double*>(copy);
  std::size_t at = 0;
  // A single operand may be a NaN, of which nothing is lost below.
  for (; operands > 1 && at + 2 * lanes <= count; at += 2 * lanes) {
    auto sum0 = Double64::load(static_cast<const double*>(in[0]) + at);
    auto sum1 = Double64::load(static_cast<const double*>(in[0]) + at + lanes);
    auto rest0 = hn::Zero(tag);
    auto rest1 = rest0;
    auto lost = hn::Zero(bits);
    for (std::size_t k = 1; k < operands; ++k) {
      const double* const from = static_cast<const double*>(in[k]) + at;
      const auto x0 = Double64::load(from);
      const auto x1 = Double64::load(from + lanes);
      const auto next0 = hn::Add(sum0, x0);
      const auto next1 = hn::Add(sum1, x1);
      const auto error0 = error_of_sum(sum0, x0, next0);
      const auto error1 = error_of_sum(sum1, x1, next1);
      const auto more0 = hn::Add(rest0, error0);
      const auto more1 = hn::Add(rest1, error1);
      lost = hn::Or(lost, hn::BitCast(bits, error_of_sum(rest0, error0, more0)));
      lost = hn::Or(lost, hn::BitCast(bits, error_of_sum(rest1, error1, more1)));
      sum0 = next0;
      sum1 = next1;
      rest0 = more0;
      rest1 = more1;
    }
    if (HWY_UNLIKELY(!hn::AllTrue(bits, hn::Eq(lost, hn::Zero(bits))))) {
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
