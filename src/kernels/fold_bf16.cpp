#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_bf16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fold-inl.hpp"
#include "kernels/folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

using Pairs = hn::ScalableTag<std::uint32_t>;
using Single = hn::ScalableTag<float>;

#if HWY_TARGET == HWY_NEON

/// Two f32 from a pair of elements in 32 bits. Few NEON units have a shifter, but all of them
/// permute.
HWY_INLINE hn::Vec<Single> even_of(hn::Vec<Pairs> pairs) {
  const uint16x8_t even = vtrn1q_u16(vdupq_n_u16(0), vreinterpretq_u16_u32(pairs.raw));
  return hn::Vec<Single>(vreinterpretq_f32_u16(even));
}
HWY_INLINE hn::Vec<Single> odd_of(hn::Vec<Pairs> pairs) {
  return hn::BitCast(Single(), hn::And(pairs, hn::Set(Pairs(), 0xFFFF0000)));
}

/// Rounds to nearest even: the upper half plus one if the lower half is above 0x8000, or is 0x8000
/// and the upper half is odd. That is the top bit of the lower half, less one if the upper half is
/// even. A NaN needs no care: it comes from a bf16 or from the processor, so its lower half is
/// zero.
HWY_INLINE hn::Vec<Pairs> joined(hn::Vec<Single> even, hn::Vec<Single> odd) {
  const uint16x8_t first = vreinterpretq_u16_f32(even.raw);
  const uint16x8_t second = vreinterpretq_u16_f32(odd.raw);
  const uint16x8_t lower = vtrn1q_u16(first, second);
  const uint16x8_t upper = vtrn2q_u16(first, second);
  const uint16x8_t is_even = vbicq_u16(vdupq_n_u16(1), upper);
  return hn::Vec<Pairs>(vreinterpretq_u32_u16(vsraq_n_u16(upper, vqsubq_u16(lower, is_even), 15)));
}

#else

/// A pair of elements in 32 bits becomes two f32 by a shift and a mask. That is faster than to
/// widen each half of a vector.
HWY_INLINE hn::Vec<Single> even_of(hn::Vec<Pairs> pairs) {
  return hn::BitCast(Single(), hn::ShiftLeft<16>(pairs));
}
HWY_INLINE hn::Vec<Single> odd_of(hn::Vec<Pairs> pairs) {
  return hn::BitCast(Single(), hn::And(pairs, hn::Set(Pairs(), 0xFFFF0000)));
}

/// The upper half is v rounded to nearest even. A NaN needs no care: it comes from a bf16 or from
/// the processor, so its lower half is zero, and nothing is carried to its upper half.
HWY_INLINE hn::Vec<Pairs> rounded(hn::Vec<Single> v) {
  const auto bits = hn::BitCast(Pairs(), v);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(Pairs(), 1));
  return hn::Add(hn::Add(bits, hn::Set(Pairs(), 0x7FFF)), last);
}

HWY_INLINE hn::Vec<Pairs> joined(hn::Vec<Single> even, hn::Vec<Single> odd) {
  const hn::ScalableTag<std::uint16_t> halves;
  const auto lower = hn::BitCast(halves, hn::ShiftRight<16>(rounded(even)));
  return hn::BitCast(Pairs(), hn::OddEven(hn::BitCast(halves, rounded(odd)), lower));
}

#endif

/// Two vectors of pairs at a time.
template <class Operation>
void fold_pairs(void* out, void* copy, const void* const* in, std::size_t operands,
                std::size_t count) {
  using T = Brain::Stored;
  const Pairs tag;
  const std::size_t lanes = 2 * hn::Lanes(tag);
  T* const to = static_cast<T*>(out);
  T* const also = static_cast<T*>(copy);
  std::size_t at = 0;
  if (operands == 2 && copy == nullptr) {
    const T* const a = static_cast<const T*>(in[0]);
    const T* const b = static_cast<const T*>(in[1]);
    for (; at + 2 * lanes <= count; at += 2 * lanes) {
      const auto left0 = load_bytes(tag, a + at);
      const auto left1 = load_bytes(tag, a + at + lanes);
      const auto right0 = load_bytes(tag, b + at);
      const auto right1 = load_bytes(tag, b + at + lanes);
      const auto even0 = Operation::apply(even_of(left0), even_of(right0));
      const auto even1 = Operation::apply(even_of(left1), even_of(right1));
      const auto odd0 = Operation::apply(odd_of(left0), odd_of(right0));
      const auto odd1 = Operation::apply(odd_of(left1), odd_of(right1));
      store_bytes(joined(even0, odd0), tag, to + at);
      store_bytes(joined(even1, odd1), tag, to + at + lanes);
    }
  }
  for (; at + 2 * lanes <= count; at += 2 * lanes) {
    const T* from = static_cast<const T*>(in[0]) + at;
    auto pairs0 = load_bytes(tag, from);
    auto pairs1 = load_bytes(tag, from + lanes);
    auto even0 = even_of(pairs0);
    auto odd0 = odd_of(pairs0);
    auto even1 = even_of(pairs1);
    auto odd1 = odd_of(pairs1);
    for (std::size_t k = 1; k < operands; ++k) {
      from = static_cast<const T*>(in[k]) + at;
      pairs0 = load_bytes(tag, from);
      pairs1 = load_bytes(tag, from + lanes);
      even0 = Operation::apply(even0, even_of(pairs0));
      odd0 = Operation::apply(odd0, odd_of(pairs0));
      even1 = Operation::apply(even1, even_of(pairs1));
      odd1 = Operation::apply(odd1, odd_of(pairs1));
    }
    const auto result0 = joined(even0, odd0);
    const auto result1 = joined(even1, odd1);
    store_bytes(result0, tag, to + at);
    store_bytes(result1, tag, to + at + lanes);
    if (also == nullptr) continue;
    store_bytes(result0, tag, also + at);
    store_bytes(result1, tag, also + at + lanes);
  }
  const std::size_t most = hn::Lanes(Brain::Tag());
  while (at < count) {
    const std::size_t some = std::min(count - at, most);
    fold_tail<Brain, Operation>(out, copy, in, operands, at, some);
    at += some;
  }
}

Fold choose_bf16(Op op) {
  switch (op) {
    case Op::sum:
    case Op::avg:
      return fold_pairs<Sum>;
    case Op::prod:
      return fold_pairs<Product>;
    default:
      return floating_fold<Brain>(op);
  }
}

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(choose_bf16);

Fold fold_bf16(Op op) { return TUTTI_BEST_VERSION(choose_bf16)(op); }

}  // namespace tutti

#endif  // HWY_ONCE
