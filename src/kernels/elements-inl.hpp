// Loads and stores elements as vectors. foreach_target.h compiles the including files once per
// vector instruction set, hence the special include guard.
#if defined(TUTTI_KERNELS_ELEMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_ELEMENTS_INL
#undef TUTTI_KERNELS_ELEMENTS_INL
#else
#define TUTTI_KERNELS_ELEMENTS_INL
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Elements may have any address, even one that is not a multiple of their size. Compilers and
// sanitizers assume that a typed pointer is aligned, so elements are loaded and stored as bytes, by
// the same instructions.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_bytes(D tag, const T* from) {
  return hn::BitCast(tag, hn::LoadU(hn::Repartition<std::uint8_t, D>(),
                                    reinterpret_cast<const std::uint8_t*>(from)));
}

template <class D, class T>
HWY_INLINE void store_bytes(hn::Vec<D> v, D /*tag*/, T* to) {
  const hn::Repartition<std::uint8_t, D> bytes;
  hn::StoreU(hn::BitCast(bytes, v), bytes, reinterpret_cast<std::uint8_t*>(to));
}

/// An element that is folded in its own type.
template <class T>
struct Plain {
  using Stored = T;
  using Tag = hn::ScalableTag<T>;

  HWY_INLINE static auto load(const T* from) { return load_bytes(Tag(), from); }
  template <class V>
  HWY_INLINE static void store(V v, T* to) {
    store_bytes(v, Tag(), to);
  }
};

/// bf16, folded as f32. Highway's conversion back truncates; this one rounds to nearest even.
struct Brain {
  using Stored = std::uint16_t;
  using Tag = hn::ScalableTag<float>;
  using Bits = hn::RebindToUnsigned<Tag>;
  using Half = hn::Rebind<std::uint16_t, Tag>;

  HWY_INLINE static auto load(const Stored* from) {
    return hn::BitCast(Tag(), hn::ShiftLeft<16>(hn::PromoteTo(Bits(), load_bytes(Half(), from))));
  }
  template <class V>
  HWY_INLINE static void store(V v, Stored* to) {
    const auto bits = hn::BitCast(Bits(), v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(Bits(), 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(Bits(), 0x7FFF)));
    // Rounding could turn a NaN into infinity: keep its upper half and set the quiet bit.
    const auto quiet = hn::Or(bits, hn::Set(Bits(), 0x00400000));
    const auto is_nan = hn::RebindMask(Bits(), hn::IsNaN(v));
    const auto upper = hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded));
    store_bytes(hn::TruncateTo(Half(), upper), Half(), to);
  }
};

/// Whether instructions convert f16. Where none do, Highway 1.0 takes infinities and NaNs for
/// numbers.
constexpr bool converts_f16 = HWY_ARCH_X86 ? HWY_TARGET <= HWY_AVX2 : HWY_TARGET < HWY_EMU128;

/// f16, folded as f32.
struct Binary16 {
  using Stored = std::uint16_t;
  using Tag = hn::ScalableTag<float>;
  using Half = hn::Rebind<hwy::float16_t, Tag>;
  using Bits = hn::RebindToUnsigned<Tag>;
  using Signed = hn::RebindToSigned<Tag>;
  using HalfBits = hn::Rebind<std::uint16_t, Tag>;

  HWY_INLINE static auto load(const Stored* from) {
    if constexpr (converts_f16) {
      return hn::PromoteTo(Tag(), load_bytes(Half(), from));
    } else {
      return promote(hn::PromoteTo(Bits(), load_bytes(HalfBits(), from)));
    }
  }
  template <class V>
  HWY_INLINE static void store(V v, Stored* to) {
    if constexpr (converts_f16) {
      store_bytes(hn::DemoteTo(Half(), v), Half(), to);
    } else {
      store_bytes(hn::TruncateTo(HalfBits(), demote(v)), HalfBits(), to);
    }
  }

 private:
  template <class V>
  HWY_INLINE static auto is_below(V magnitude, std::int32_t limit) {
    return hn::RebindMask(Bits(),
                          hn::Lt(hn::BitCast(Signed(), magnitude), hn::Set(Signed(), limit)));
  }

  template <class V>
  HWY_INLINE static hn::Vec<Tag> promote(V bits) {
    const auto magnitude = hn::And(bits, hn::Set(Bits(), 0x7FFF));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    const auto wide = hn::ShiftLeft<13>(magnitude);
    const auto normal = hn::Add(wide, hn::Set(Bits(), (127 - 15) << 23));
    const auto subnormal = hn::BitCast(
        Bits(),
        hn::Mul(hn::ConvertTo(Tag(), hn::BitCast(Signed(), magnitude)), hn::Set(Tag(), 0x1p-24F)));
    const auto infinite = hn::Or(wide, hn::Set(Bits(), 0x7F800000));
    const auto nan = hn::Or(infinite, hn::Set(Bits(), 0x00400000));
    const auto finite = hn::IfThenElse(is_below(magnitude, 0x0400), subnormal, normal);
    const auto other = hn::IfThenElse(is_below(magnitude, 0x7C01), infinite, nan);
    const auto result = hn::IfThenElse(is_below(magnitude, 0x7C00), finite, other);
    return hn::BitCast(Tag(), hn::Or(result, sign));
  }

  /// Rounds to nearest even.
  template <class V>
  HWY_INLINE static hn::Vec<Bits> demote(V v) {
    const auto bits = hn::BitCast(Bits(), v);
    const auto magnitude = hn::And(bits, hn::Set(Bits(), 0x7FFFFFFF));
    const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(Bits(), 1));
    const auto rounded = hn::Add(magnitude, hn::Add(odd, hn::Set(Bits(), 0x0FFF)));
    const auto normal = hn::ShiftRight<13>(hn::Sub(rounded, hn::Set(Bits(), (127 - 15) << 23)));
    // The last place of what is added is that of f16's subnormal numbers: the addition rounds.
    const auto sum = hn::Add(hn::BitCast(Tag(), magnitude), hn::Set(Tag(), 0.5F));
    const auto subnormal = hn::Sub(hn::BitCast(Bits(), sum), hn::Set(Bits(), 0x3F000000));
    const auto nan = hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(Bits(), 0x03FF)),
                            hn::Set(Bits(), 0x7E00));
    const auto finite = hn::IfThenElse(is_below(magnitude, 0x38800000), subnormal, normal);
    const auto other =
        hn::IfThenElse(is_below(magnitude, 0x7F800001), hn::Set(Bits(), 0x7C00), nan);
    // From 65520 on, half a last place above the largest number, it is infinity that is nearest.
    return hn::Or(hn::IfThenElse(is_below(magnitude, 0x477FF000), finite, other), sign);
  }
};

/// An 8-bit format, folded as f32: see DType. Its bits are moved to the place of f32's exponent and
/// fraction. Its subnormal numbers become normal ones: arithmetic on
/// subnormal numbers of f32 is many times slower.
template <int fraction_bits, int bias>
struct Float8 {
  using Stored = std::uint8_t;
  using Tag = hn::ScalableTag<float>;
  using Bits = hn::RebindToUnsigned<Tag>;
  using Signed = hn::RebindToSigned<Tag>;
  using Byte = hn::Rebind<std::uint8_t, Tag>;

  static constexpr bool has_infinity = bias == 15;
  static constexpr int shift = 23 - fraction_bits;

  HWY_INLINE static auto load(const Stored* from) {
    // E5M2 is the upper half of f16.
    if constexpr (has_infinity && converts_f16) {
      using Upper = hn::Rebind<std::uint16_t, Tag>;
      const auto upper = hn::ShiftLeft<8>(hn::PromoteTo(Upper(), load_bytes(Byte(), from)));
      return hn::PromoteTo(Tag(), hn::BitCast(hn::Rebind<hwy::float16_t, Tag>(), upper));
    }
    const auto bits = hn::PromoteTo(Bits(), load_bytes(Byte(), from));
    const auto magnitude = hn::And(bits, hn::Set(Bits(), 0x7F));
    const auto sign = hn::ShiftLeft<24>(hn::Xor(bits, magnitude));
    const auto moved = hn::ShiftLeft<shift>(magnitude);
    const auto normal = hn::Add(moved, hn::Set(Bits(), (127 - bias) << 23));
    // The least normal number plus the subnormal one, minus the former.
    const auto least = hn::Set(Bits(), (127 + 1 - bias) << 23);
    const auto sum = hn::BitCast(Tag(), hn::Or(moved, least));
    const auto subnormal = hn::BitCast(Bits(), hn::Sub(sum, hn::BitCast(Tag(), least)));
    const auto number = hn::IfThenElse(is_below(magnitude, 1 << fraction_bits), subnormal, normal);
    const auto special =
        has_infinity ? hn::Or(moved, hn::Set(Bits(), 0x7F800000)) : hn::Set(Bits(), 0x7FC00000);
    const auto is_number = is_below(magnitude, has_infinity ? 0x7C : 0x7F);
    return hn::BitCast(Tag(), hn::Or(hn::IfThenElse(is_number, number, special), sign));
  }

  /// Rounds to nearest even. Too large numbers become infinity, or NaN if there is none.
  template <class V>
  HWY_INLINE static void store(V v, Stored* to) {
    const auto bits = hn::BitCast(Bits(), v);
    const auto magnitude = hn::And(bits, hn::Set(Bits(), 0x7FFFFFFF));
    const auto sign = hn::ShiftRight<24>(hn::Xor(bits, magnitude));
    const auto odd = hn::And(hn::ShiftRight<shift>(magnitude), hn::Set(Bits(), 1));
    const auto rounded = hn::Add(magnitude, hn::Add(odd, hn::Set(Bits(), (1U << (shift - 1)) - 1)));
    const auto normal =
        hn::ShiftRight<shift>(hn::Sub(rounded, hn::Set(Bits(), (127 - bias) << 23)));
    // The last place of what is added is that of the subnormal numbers: the addition rounds.
    constexpr std::uint32_t added = (127 + 1 - bias + shift) << 23;
    const auto sum =
        hn::Add(hn::BitCast(Tag(), magnitude), hn::BitCast(Tag(), hn::Set(Bits(), added)));
    const auto subnormal = hn::Sub(hn::BitCast(Bits(), sum), hn::Set(Bits(), added));
    const auto finite =
        hn::IfThenElse(is_below(magnitude, (127 + 1 - bias) << 23), subnormal, normal);
    // E4M3 has one NaN, without a sign; E5M2 keeps the upper bits and sets the quiet bit.
    const auto nan = has_infinity
                         ? hn::Or(hn::And(hn::ShiftRight<shift>(magnitude), hn::Set(Bits(), 0x7F)),
                                  hn::Set(Bits(), 0x7E))
                         : hn::Set(Bits(), 0x7F);
    const auto other =
        has_infinity ? hn::IfThenElse(is_below(magnitude, 0x7F800001), hn::Set(Bits(), 0x7C), nan)
                     : nan;
    // From 61440, or above 464, the next power of two or NaN would be nearest.
    const auto is_finite = is_below(magnitude, has_infinity ? 0x47700000 : 0x43E80001);
    const auto result = has_infinity ? hn::Or(hn::IfThenElse(is_finite, finite, other), sign)
                                     : hn::IfThenElse(is_finite, hn::Or(finite, sign), other);
    store_bytes(hn::TruncateTo(Byte(), result), Byte(), to);
  }

 private:
  template <class V>
  HWY_INLINE static auto is_below(V magnitude, std::int32_t limit) {
    return hn::RebindMask(Bits(),
                          hn::Lt(hn::BitCast(Signed(), magnitude), hn::Set(Signed(), limit)));
  }
};

/// OCP's E4M3 and E5M2.
using E4M3 = Float8<3, 7>;
using E5M2 = Float8<2, 15>;

}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
