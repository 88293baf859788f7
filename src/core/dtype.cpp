#include <algorithm>
#include <array>
#include <string>

#include <tutti/dtype.hpp>
#include <tutti/error.hpp>
#include <tutti/nearest.hpp>

namespace tutti {
namespace {

constexpr std::array all{DType::i8,  DType::u8,  DType::i32,  DType::u32, DType::i64,
                         DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64};
constexpr std::array<std::string_view, all.size()> names{"i8",  "u8",  "i32",  "u32", "i64",
                                                         "u64", "f16", "bf16", "f32", "f64"};

}  // namespace

std::span<const DType> dtypes() { return all; }

std::string_view name(DType dtype) { return names.at(static_cast<std::size_t>(dtype)); }

DType parse_dtype(std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return all.at(static_cast<std::size_t>(found - names.begin()));
  throw Error(ErrorCode::invalid_argument,
              "'" + std::string(text) + "' is not a type of element." + did_you_mean(text, names) +
                  " There are: i8 u8 i32 u32 i64 u64 f16 bf16 f32 f64.");
}

}  // namespace tutti
