#pragma once

#include <charconv>

/// Decimal numbers as std::from_chars reads them, which libc++ before 20 does for integers only.
namespace tutti {

/// std::from_chars(first, last, number).
std::from_chars_result read_decimal(const char* first, const char* last, double& number);

/// The same by the C library, for a standard library that lacks it.
std::from_chars_result read_decimal_in_c(const char* first, const char* last, double& number);

}  // namespace tutti
