#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/divide.cpp"
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/elements-inl.hpp"
#include "kernels/fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::HWY_NAMESPACE {
namespace {

template <class Element>
void divide_floating(void* data, std::size_t count, std::size_t divisor) {
  using T = typename Element::Stored;
  const typename Element::Tag tag;
  const auto by = hn::Set(tag, static_cast<hn::TFromD<typename Element::Tag>>(divisor));
  const std::size_t lanes = hn::Lanes(tag);
  T* const at = static_cast<T*>(data);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) Element::store(hn::Div(Element::load(at + i), by), at + i);
  if (i == count) return;
  HWY_ALIGN T rest[HWY_MAX_BYTES / sizeof(T)] = {};
  std::memcpy(rest, at + i, (count - i) * sizeof(T));
  Element::store(hn::Div(Element::load(rest), by), rest);
  std::memcpy(at + i, rest, (count - i) * sizeof(T));
}

/// Scalar, because CPUs have no vector division of integers.
template <class T>
void divide_integral(void* data, std::size_t count, std::size_t divisor) {
  for (std::size_t i = 0; i < count; ++i) {
    T value = 0;
    std::memcpy(&value, static_cast<T*>(data) + i, sizeof value);
    if constexpr (std::is_signed_v<T>) {
      value = static_cast<T>(std::int64_t{value} / static_cast<std::int64_t>(divisor));
    } else {
      value = static_cast<T>(std::uint64_t{value} / divisor);
    }
    std::memcpy(static_cast<T*>(data) + i, &value, sizeof value);
  }
}

void divide_all(DType dtype, void* data, std::size_t count, std::size_t divisor) {
  switch (dtype) {
    case DType::i8:
      return divide_integral<std::int8_t>(data, count, divisor);
    case DType::u8:
      return divide_integral<std::uint8_t>(data, count, divisor);
    case DType::i16:
      return divide_integral<std::int16_t>(data, count, divisor);
    case DType::u16:
      return divide_integral<std::uint16_t>(data, count, divisor);
    case DType::i32:
      return divide_integral<std::int32_t>(data, count, divisor);
    case DType::u32:
      return divide_integral<std::uint32_t>(data, count, divisor);
    case DType::i64:
      return divide_integral<std::int64_t>(data, count, divisor);
    case DType::u64:
      return divide_integral<std::uint64_t>(data, count, divisor);
    case DType::f16:
      return divide_floating<Binary16>(data, count, divisor);
    case DType::bf16:
      return divide_floating<Brain>(data, count, divisor);
    case DType::f8e4m3:
      return divide_floating<E4M3>(data, count, divisor);
    case DType::f8e5m2:
      return divide_floating<E5M2>(data, count, divisor);
    case DType::f32:
      return divide_floating<Plain<float>>(data, count, divisor);
    case DType::f64:
      return divide_floating<Plain<double>>(data, count, divisor);
    case DType::complex64:
      return divide_floating<Plain<float>>(data, 2 * count, divisor);
    case DType::complex128:
      return divide_floating<Plain<double>>(data, 2 * count, divisor);
  }
}

const char* target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace tutti::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/dispatch.hpp"

namespace tutti {

TUTTI_VERSIONS(divide_all);
TUTTI_VERSIONS(target);

void divide(DType dtype, void* data, std::size_t count, std::size_t divisor) {
  TUTTI_BEST_VERSION(divide_all)(dtype, data, count, divisor);
}

const char* fold_target() { return TUTTI_BEST_VERSION(target)(); }

}  // namespace tutti

#endif  // HWY_ONCE
