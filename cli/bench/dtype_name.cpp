#include "cli/bench/dtype_name.hpp"

#include <array>
#include <utility>
#include <vector>

#include <tutti/error.hpp>

#include "core/nearest.hpp"

namespace tutti::cli {
namespace {

using Name = std::pair<std::string_view, DType>;
// Where a type has two names, the first one is printed.
constexpr std::array<Name, 18> nccl_names{{{"int8", DType::i8},
                                           {"char", DType::i8},
                                           {"uint8", DType::u8},
                                           {"int16", DType::i16},
                                           {"short", DType::i16},
                                           {"uint16", DType::u16},
                                           {"int32", DType::i32},
                                           {"int", DType::i32},
                                           {"uint32", DType::u32},
                                           {"int64", DType::i64},
                                           {"uint64", DType::u64},
                                           {"half", DType::f16},
                                           {"float16", DType::f16},
                                           {"bfloat16", DType::bf16},
                                           {"f8e4m3", DType::f8e4m3},
                                           {"f8e5m2", DType::f8e5m2},
                                           {"float", DType::f32},
                                           {"double", DType::f64}}};

}  // namespace

std::string_view nccl_name(DType dtype) {
  for (const auto& [name, each] : nccl_names) {
    if (each == dtype) return name;
  }
  return name(dtype);
}

DType parse_bench_dtype(const std::string& text) {
  std::vector<std::string_view> known;
  std::string list;
  const auto add = [&](std::string_view name) {
    known.push_back(name);
    list += ' ';
    list += name;
  };
  for (const auto& [name, each] : nccl_names) {
    if (name == text) return each;
    add(name);
  }
  for (const DType each : dtypes()) {
    if (name(each) == text) return each;
    add(name(each));
  }
  throw Error(ErrorCode::invalid_argument, "'" + text + "' is not a type of element." +
                                               did_you_mean(text, known) + " There are:" + list +
                                               ", and all.");
}

}  // namespace tutti::cli
