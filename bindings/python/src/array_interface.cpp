#include "array_interface.hpp"

#include <charconv>
#include <string_view>

#include <nanobind/stl/string.h>

#include "errors.hpp"

namespace tutti::python {
namespace {

[[noreturn]] void refuse_field(const char* call, const char* field, const char* rule) {
  throw WrongType(std::string(call) + ": '" + field + "' of the array's __array_interface__ " +
                  rule);
}

template <typename Number>
Number number(nb::handle value, const char* call, const char* field, const char* rule) {
  Number found{};
  if (!nb::try_cast(value, found)) refuse_field(call, field, rule);
  return found;
}

std::vector<std::int64_t> numbers(nb::handle value, const char* call, const char* field) {
  constexpr const char* rule = "must be a tuple of whole numbers";
  if (!nb::isinstance<nb::tuple>(value)) refuse_field(call, field, rule);
  std::vector<std::int64_t> all;
  for (const nb::handle each : nb::borrow<nb::tuple>(value)) {
    all.push_back(number<std::int64_t>(each, call, field, rule));
  }
  return all;
}

/// The bytes of an element, from a type such as "<f8", "<U5" or "<M8[ns]".
std::size_t item_bytes(std::string_view type, const char* call) {
  constexpr const char* rule = "must be a byte order, a kind and a size, such as '<f8'";
  std::size_t size = 0;
  if (type.size() < 3) refuse_field(call, "typestr", rule);
  const char* const end = type.data() + type.size();
  const auto [rest, error] = std::from_chars(type.data() + 2, end, size);
  const bool has_unit = rest != end && *rest == '[';
  // Of 't' the size counts bits.
  if (error != std::errc{} || (rest != end && !has_unit) || type[1] == 't' || size > 0x7FFFFFFF) {
    refuse_field(call, "typestr", rule);
  }
  return type[1] == 'U' ? 4 * size : size;  // Characters of four bytes.
}

}  // namespace

std::optional<ArrayInterface> array_interface_of(nb::handle object, const char* call) {
  if (PyObject_HasAttrString(object.ptr(), "__array_interface__") == 0) return std::nullopt;
  const nb::object interface = object.attr("__array_interface__");
  if (!nb::isinstance<nb::dict>(interface)) return std::nullopt;
  const nb::dict fields = nb::borrow<nb::dict>(interface);
  if (!fields.contains("data") || !fields.contains("shape") || !fields.contains("typestr")) {
    return std::nullopt;
  }
  const nb::object place = fields["data"];
  if (!nb::isinstance<nb::tuple>(place)) return std::nullopt;
  ArrayInterface found;
  constexpr const char* pair = "must be a tuple of an address and a bool";
  if (nb::len(place) != 2) refuse_field(call, "data", pair);
  found.data =
      reinterpret_cast<void*>(number<std::uintptr_t>(nb::object(place[0]), call, "data", pair));
  const int is_read_only = PyObject_IsTrue(nb::object(place[1]).ptr());
  if (is_read_only < 0) throw nb::python_error();
  found.is_read_only = is_read_only != 0;
  if (!nb::try_cast(fields["typestr"], found.type)) {
    refuse_field(call, "typestr", "must be a str");
  }
  found.item_bytes = item_bytes(found.type, call);
  found.shape = numbers(fields["shape"], call, "shape");
  if (fields.contains("strides") && !nb::object(fields["strides"]).is_none()) {
    found.strides = numbers(fields["strides"], call, "strides");
    if (found.strides.size() != found.shape.size()) {
      refuse_field(call, "strides", "must have as many numbers as 'shape'");
    }
  }
  return found;
}

}  // namespace tutti::python
