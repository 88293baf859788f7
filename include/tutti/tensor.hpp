#pragma once

#include <cstdint>
#include <ranges>

#include <tutti/dtype.hpp>
#include <tutti/element.hpp>

namespace tutti {

/// Contiguous elements of one type in the caller's memory.
struct Tensor {
  void* data = nullptr;
  std::uint64_t count = 0;
  DType dtype = DType::f32;

  [[nodiscard]] std::uint64_t bytes() const { return count * size_of(dtype); }
};

/// A vector, array or span of numbers as a Tensor. Temporaries that own their elements do not
/// compile.
template <std::ranges::contiguous_range Data>
requires std::ranges::borrowed_range<Data> && Number<std::ranges::range_value_t<Data>>
[[nodiscard]] Tensor tensor(Data&& data) {
  return {.data = std::ranges::data(data),
          .count = std::ranges::size(data),
          .dtype = DTypeOf<std::ranges::range_value_t<Data>>::value};
}

}  // namespace tutti
