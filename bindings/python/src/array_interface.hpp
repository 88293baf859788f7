#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

namespace tutti::python {

namespace nb = nanobind;

/// The fields of an __array_interface__, which any class can write: checked, except that the
/// address is taken as it is.
struct ArrayInterface {
  void* data = nullptr;
  bool is_read_only = false;
  std::string type;  ///< Byte order, kind and size: "<f8".
  std::size_t item_bytes = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< In bytes; empty: contiguous.
};

/// None if the object has no __array_interface__, or one without an address. Throws WrongType,
/// which names the call and the field, if a field is malformed.
[[nodiscard]] std::optional<ArrayInterface> array_interface_of(nb::handle object, const char* call);

}  // namespace tutti::python
