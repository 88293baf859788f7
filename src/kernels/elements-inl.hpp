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

/// f16, folded as f32.
struct Binary16 {
  using Stored = std::uint16_t;
  using Tag = hn::ScalableTag<float>;
  using Half = hn::Rebind<hwy::float16_t, Tag>;

  HWY_INLINE static auto load(const Stored* from) {
    return hn::PromoteTo(Tag(), load_bytes(Half(), from));
  }
  template <class V>
  HWY_INLINE static void store(V v, Stored* to) {
    store_bytes(hn::DemoteTo(Half(), v), Half(), to);
  }
};

}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
