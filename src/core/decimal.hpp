#pragma once

#include <charconv>

/// Reads decimal numbers like std::from_chars, which libc++ before 20 has for integers only.
namespace tutti {

/// std::from_chars(first, last, number).
std::from_chars_result read_decimal(const char* first, const char* last, double& number);

/// The same with the C library, for a standard library that lacks it.
std::from_chars_result read_decimal_in_c(const char* first, const char* last, double& number);

}  // namespace tutti
