#pragma once

#include <string>
#include <string_view>

#include <tutti/dtype.hpp>

/// The names that nccl-tests has for types of elements.
namespace tutti::cli {

/// "float", "int8"; tutti's own name where nccl-tests has none.
[[nodiscard]] std::string_view nccl_name(DType dtype);

/// By either name, "float" or "f32". Throws invalid_argument.
[[nodiscard]] DType parse_bench_dtype(const std::string& text);

}  // namespace tutti::cli
