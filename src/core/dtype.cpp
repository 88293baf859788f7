#include <algorithm>
#include <array>
#include <string>

#include <tutti/dtype.hpp>
#include <tutti/error.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

constexpr std::array all_dtypes{DType::i8,        DType::u8,         DType::i32,    DType::u32,
                                DType::i64,       DType::u64,        DType::f16,    DType::bf16,
                                DType::f32,       DType::f64,        DType::i16,    DType::u16,
                                DType::complex64, DType::complex128, DType::f8e4m3, DType::f8e5m2};
constexpr std::array<std::string_view, all_dtypes.size()> dtype_names{
    "i8",  "u8",  "i32", "u32", "i64",       "u64",        "f16",    "bf16",
    "f32", "f64", "i16", "u16", "complex64", "complex128", "f8e4m3", "f8e5m2"};
static_assert(all_dtypes.size() == static_cast<std::size_t>(last_dtype) + 1);

}  // namespace

std::span<const DType> dtypes() { return all_dtypes; }

std::string_view name(DType dtype) { return dtype_names.at(static_cast<std::size_t>(dtype)); }

DType parse_dtype(std::string_view text) {
  const auto found = std::find(dtype_names.begin(), dtype_names.end(), text);
  if (found != dtype_names.end())
    return all_dtypes.at(static_cast<std::size_t>(found - dtype_names.begin()));
  std::string list;
  for (const std::string_view each : dtype_names) list += " " + std::string(each);
  throw Error(ErrorCode::invalid_argument, "'" + std::string(text) + "' is not an element type." +
                                               did_you_mean(text, dtype_names) +
                                               " There are:" + list + ".");
}

}  // namespace tutti
