#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <tutti/dtype.hpp>

namespace tutti::python {

namespace nb = nanobind;

/// What a call does with an array.
enum class Access : std::uint8_t { read, write };

/// The memory of a Python object with the buffer protocol, __array_interface__ or DLPack. Keeps the
/// memory alive and, where the object can be told, its size fixed.
class Array {
 public:
  Array() = default;
  /// Requires the GIL.
  ~Array() { release(); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  /// Throws WrongType or invalid_argument, which name the call and the cure, if the object is no
  /// array, is not contiguous, is not in the memory of the CPU, or is read-only and to be written.
  /// Requires the GIL, and that it was not acquired before.
  void acquire(nb::handle object, const char* call, Access access);
  /// Requires the GIL.
  void release();

  [[nodiscard]] void* data() const { return data_; }
  /// The number of elements.
  [[nodiscard]] std::uint64_t count() const { return bytes_ / item_bytes_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t item_bytes() const { return item_bytes_; }
  /// None if tutti can move the elements but not reduce them.
  [[nodiscard]] std::optional<DType> dtype() const { return dtype_; }
  /// Elements are 0 or 1, of type u8.
  [[nodiscard]] bool is_boolean() const { return is_boolean_; }
  /// As the object calls it, for error messages: "f32", "bool", "format 'T{…}'".
  [[nodiscard]] std::string type_name() const;

  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  [[nodiscard]] std::int64_t length(std::size_t dimension) const { return shape_[dimension]; }
  /// The elements of one row along the first dimension; 1 for a scalar.
  [[nodiscard]] std::uint64_t row() const;

 private:
  static constexpr std::size_t most_dimensions = 64;

  bool acquire_buffer(nb::handle object, const char* call);
  bool acquire_interface(nb::handle object, const char* call);
  bool acquire_dlpack(nb::handle object, const char* call);
  void set_format(const char* format, const char* call);
  void set_bytes(std::size_t item_bytes, const char* call);
  void require_contiguous(const std::int64_t* strides, std::int64_t unit, const char* call,
                          nb::handle object) const;

  Py_buffer view_{};
  bool has_view_ = false;
  nb::object keep_;  // The object, or a DLPack capsule.
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::size_t item_bytes_ = 1;
  std::optional<DType> dtype_;
  std::string format_;  // If dtype_ is empty.
  bool is_boolean_ = false;
  bool is_read_only_ = false;
  std::size_t dimensions_ = 0;
  const std::int64_t* shape_ = nullptr;
  std::vector<std::int64_t> own_shape_;
};

/// The dtype of a name that NumPy, torch or tutti use: "float32", "bfloat16", "f32", "bool". Throws
/// invalid_argument.
[[nodiscard]] DType dtype_named(const std::string& name);

}  // namespace tutti::python
