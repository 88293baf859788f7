#include "core/decimal.hpp"

#include <locale.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace tutti {
namespace {

/// A template, so that std::from_chars is compiled only where the library has it for double.
template <class Number>
std::from_chars_result read(const char* first, const char* last, Number& number) {
  if constexpr (requires { std::from_chars(first, last, number); }) {
    return std::from_chars(first, last, number);
  } else {
    return read_decimal_in_c(first, last, number);
  }
}

/// The C locale, so that the decimal point is '.' whatever locale the program has set.
locale_t plain_locale() {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

}  // namespace

std::from_chars_result read_decimal(const char* first, const char* last, double& number) {
  return read(first, last, number);
}

std::from_chars_result read_decimal_in_c(const char* first, const char* last, double& number) {
  const std::string_view text(first, static_cast<std::size_t>(last - first));
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  std::string copy(text);
  // strtod also accepts blanks, a plus sign and hexadecimal numbers; std::from_chars does not.
  const std::size_t start = copy.find_first_of("0123456789.iInN");
  if (start != sign) return {first, std::errc::invalid_argument};
  if (copy.size() > sign + 1 && copy[sign] == '0' &&
      (copy[sign + 1] == 'x' || copy[sign + 1] == 'X')) {
    copy.resize(sign + 1);
  }
  char* end = nullptr;
  const double value = ::strtod_l(copy.c_str(), &end, plain_locale());
  if (end == copy.c_str()) return {first, std::errc::invalid_argument};
  const char* const stop = first + (end - copy.c_str());
  const std::string_view digits(copy.c_str() + sign,
                                static_cast<std::size_t>(end - copy.c_str()) - sign);
  const bool has_digits = digits.front() != 'i' && digits.front() != 'I' && digits.front() != 'n' &&
                          digits.front() != 'N';
  // Overflow gives infinity. Underflow gives zero although the mantissa has a non-zero digit.
  const bool is_zero =
      digits.substr(0, digits.find_first_of("eE")).find_first_of("123456789") == digits.npos;
  if (has_digits && (std::isinf(value) || (value == 0 && !is_zero))) {
    return {stop, std::errc::result_out_of_range};
  }
  number = value;
  return {stop, std::errc{}};
}

}  // namespace tutti
