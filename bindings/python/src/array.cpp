#include "array.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "array_interface.hpp"
#include "dlpack.hpp"
#include "errors.hpp"

static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));

namespace tutti::python {
namespace {

constexpr const char* ways =
    "a NumPy array, a torch CPU tensor, a JAX array, array.array, a memoryview, or anything else "
    "with "
    "the buffer protocol, __array_interface__ or DLPack";

std::string type_of(nb::handle object) {
  return nb::cast<std::string>(
      nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
}

std::optional<DType> integer(bool is_signed, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return is_signed ? DType::i8 : DType::u8;
    case 2:
      return is_signed ? DType::i16 : DType::u16;
    case 4:
      return is_signed ? DType::i32 : DType::u32;
    case 8:
      return is_signed ? DType::i64 : DType::u64;
    default:
      return std::nullopt;
  }
}

std::optional<DType> floating(std::size_t bytes) {
  if (bytes == 2) return DType::f16;
  if (bytes == 4) return DType::f32;
  if (bytes == 8) return DType::f64;
  return std::nullopt;
}

std::optional<DType> complex(std::size_t bytes) {
  if (bytes == 8) return DType::complex64;
  if (bytes == 16) return DType::complex128;
  return std::nullopt;
}

/// Elements hold pointers, which mean nothing to another process.
[[noreturn]] void refuse_objects(const char* call) {
  refuse(std::string(call) +
         ": the array holds Python objects; convert it to numbers, or use a call for objects, such "
         "as broadcast_object()");
}

bool has_attribute(nb::handle object, const char* name) {
  return PyObject_HasAttrString(object.ptr(), name) != 0;
}

/// Clears the current Python error and returns it.
PythonFailure taken_error() { return PythonFailure(); }

}  // namespace

void Array::acquire(nb::handle object, const char* call, Access access) {
  if (!acquire_buffer(object, call) && !acquire_interface(object, call) &&
      !acquire_dlpack(object, call)) {
    throw WrongType(std::string(call) + ": " + type_of(object) + " is no array: pass " + ways +
                    "; for other Python objects use a call such as broadcast_object()");
  }
  if (access == Access::write && is_read_only_) {
    const std::string type = type_of(object);
    release();
    refuse(std::string(call) + ": the result cannot be written to this " + type +
           ", which is read-only: pass a writable array as out=, such as "
           "numpy.empty_like(x)");
  }
}

void Array::release() {
  if (std::exchange(has_view_, false)) PyBuffer_Release(&view_);
  keep_.reset();
  data_ = nullptr;
  bytes_ = 0;
}

std::string Array::type_name() const {
  if (is_boolean_) return "bool";
  return dtype_ ? std::string(name(*dtype_)) : "'" + format_ + "'";
}

std::uint64_t Array::row() const {
  std::uint64_t elements = 1;
  for (std::size_t i = 1; i < dimensions_; ++i) {
    elements *= static_cast<std::uint64_t>(shape_[i]);
  }
  return elements;
}

// The buffer protocol ---------------------------------------------------------------------------

bool Array::acquire_buffer(nb::handle object, const char* call) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_RECORDS_RO) != 0) {
    // NumPy exports no buffer of types that the protocol does not know, such as bfloat16.
    const PythonFailure why = taken_error();
    if (has_attribute(object, "__array_interface__") || has_attribute(object, "__dlpack__")) {
      return false;
    }
    throw why;
  }
  has_view_ = true;
  data_ = view_.buf;
  bytes_ = static_cast<std::uint64_t>(view_.len);
  item_bytes_ = view_.itemsize > 0 ? static_cast<std::size_t>(view_.itemsize) : 1;
  is_read_only_ = view_.readonly != 0;
  dimensions_ = static_cast<std::size_t>(view_.ndim);
  shape_ = reinterpret_cast<const std::int64_t*>(view_.shape);
  if (PyBuffer_IsContiguous(&view_, 'C') == 0) {
    require_contiguous(reinterpret_cast<const std::int64_t*>(view_.strides), view_.itemsize, call,
                       object);
  }
  set_format(view_.format == nullptr ? "B" : view_.format, call);
  return true;
}

/// A format of the module struct, as NumPy extends it.
void Array::set_format(const char* format, const char* call) {
  const char* code = format;
  constexpr bool is_little = std::endian::native == std::endian::little;
  bool is_foreign = false;
  if (*code == '@' || *code == '=') {
    ++code;
  } else if (*code == '<' || *code == '>' || *code == '!') {
    is_foreign = (*code == '<') != is_little && item_bytes_ > 1;
    ++code;
  }
  if (is_foreign) {
    release();
    refuse(std::string(call) + ": the array has the byte order of another machine (format '" +
           format + "'): convert it, such as by x.astype(x.dtype.newbyteorder('='))");
  }
  const bool is_complex = *code == 'Z';
  if (is_complex) ++code;
  const bool is_one = *code != '\0' && code[1] == '\0';
  if (is_one && is_complex) {
    dtype_ = complex(item_bytes_);
  } else if (is_one) {
    switch (*code) {
      case 'b':
      case 'h':
      case 'i':
      case 'l':
      case 'q':
      case 'n':
        dtype_ = integer(true, item_bytes_);
        break;
      case 'B':
      case 'H':
      case 'I':
      case 'L':
      case 'Q':
      case 'N':
        dtype_ = integer(false, item_bytes_);
        break;
      case 'e':
      case 'f':
      case 'd':
        dtype_ = floating(item_bytes_);
        break;
      case 'F':  // Python 3.14 writes complex types so.
      case 'D':
        dtype_ = complex(item_bytes_);
        break;
      case '?':
        dtype_ = DType::u8;
        is_boolean_ = true;
        break;
      default:
        break;
    }
  }
  if (dtype_) return;
  if (std::strchr(code, 'O') != nullptr) {
    release();
    refuse_objects(call);
  }
  format_ = format;
}

// __array_interface__ ---------------------------------------------------------------------------

namespace {

/// The type of an array of ml_dtypes, which JAX uses too. A typestr names none of them: most are
/// "V", float8_e5m2 is "f".
std::optional<DType> ml_dtype(nb::handle array) {
  const nb::object dtype = nb::getattr(array, "dtype", nb::none());
  const nb::object named = nb::getattr(dtype, "name", nb::none());
  if (!nb::isinstance<nb::str>(named)) return std::nullopt;
  const auto name = nb::cast<std::string>(named);
  if (name == "bfloat16") return DType::bf16;
  if (name == "float8_e4m3fn") return DType::f8e4m3;
  if (name == "float8_e5m2") return DType::f8e5m2;
  return std::nullopt;
}

}  // namespace

bool Array::acquire_interface(nb::handle object, const char* call) {
  std::optional<ArrayInterface> found = array_interface_of(object, call);
  if (!found) return false;
  const std::string& type = found->type;
  keep_ = nb::borrow(object);
  data_ = found->data;
  is_read_only_ = found->is_read_only;
  own_shape_ = std::move(found->shape);
  dimensions_ = own_shape_.size();
  shape_ = own_shape_.data();
  set_bytes(found->item_bytes, call);
  if (!found->strides.empty()) {
    require_contiguous(found->strides.data(), static_cast<std::int64_t>(item_bytes_), call, object);
  }
  const bool is_foreign =
      type[0] == (std::endian::native == std::endian::little ? '>' : '<') && item_bytes_ > 1;
  if (is_foreign) {
    release();
    refuse(std::string(call) + ": the array has the byte order of another machine (type '" + type +
           "'): convert it, such as by x.astype(x.dtype.newbyteorder('='))");
  }
  switch (type[1]) {
    case 'i':
      dtype_ = integer(true, item_bytes_);
      break;
    case 'u':
      dtype_ = integer(false, item_bytes_);
      break;
    case 'f':
      dtype_ = item_bytes_ == 1 ? ml_dtype(object) : floating(item_bytes_);
      break;
    case 'c':
      dtype_ = complex(item_bytes_);
      break;
    case 'b':
      is_boolean_ = item_bytes_ == 1;
      if (is_boolean_) dtype_ = DType::u8;
      break;
    case 'O':
      release();
      refuse_objects(call);
    case 'V':
      dtype_ = ml_dtype(object);
      break;
    default:
      break;
  }
  if (!dtype_) format_ = type;
  return true;
}

// DLPack ----------------------------------------------------------------------------------------

namespace {

void require_cpu(nb::handle object, const char* call) {
  if (!has_attribute(object, "__dlpack_device__")) return;
  const nb::object device = object.attr("__dlpack_device__")();
  const auto type = nb::cast<std::int32_t>(nb::int_(device[0]));
  if (type == dlpack::cpu || type == dlpack::cuda_host) return;
  const nb::object named = nb::getattr(object, "device", nb::none());
  const std::string where =
      named.is_none() ? "device " + std::to_string(type) : nb::cast<std::string>(nb::str(named));
  refuse(std::string(call) + ": the array is on " + where +
         ", and tutti moves memory of the CPU: copy it there first, such as by x.cpu()");
}

nb::object exported(nb::handle object) {
  const nb::object method = object.attr("__dlpack__");
  nb::object capsule = nb::steal(nullptr);
  try {
    capsule = method(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    capsule = method();
  }
  return capsule;
}

/// JAX arrays cannot be written, and their capsules, which have no version, do not tell.
bool is_immutable(nb::handle object) {
  const nb::object module = nb::getattr(object.type(), "__module__", nb::none());
  return nb::isinstance<nb::str>(module) && nb::cast<std::string>(module).starts_with("jax");
}

std::optional<DType> dtype_of(dlpack::DataType type) {
  if (type.lanes != 1 || type.bits % 8 != 0) return std::nullopt;
  const std::size_t bytes = type.bits / 8;
  switch (static_cast<dlpack::Code>(type.code)) {
    case dlpack::Code::signed_integer:
      return integer(true, bytes);
    case dlpack::Code::unsigned_integer:
      return integer(false, bytes);
    case dlpack::Code::floating:
      return floating(bytes);
    case dlpack::Code::bfloat:
      return bytes == 2 ? std::optional(DType::bf16) : std::nullopt;
    case dlpack::Code::float8_e4m3fn:
      return bytes == 1 ? std::optional(DType::f8e4m3) : std::nullopt;
    case dlpack::Code::float8_e5m2:
      return bytes == 1 ? std::optional(DType::f8e5m2) : std::nullopt;
    case dlpack::Code::complex:
      return complex(bytes);
    case dlpack::Code::boolean:
      return bytes == 1 ? std::optional(DType::u8) : std::nullopt;
    case dlpack::Code::handle:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool Array::acquire_dlpack(nb::handle object, const char* call) {
  if (!has_attribute(object, "__dlpack__")) return false;
  require_cpu(object, call);
  keep_ = exported(object);
  const dlpack::Tensor* tensor = nullptr;
  if (PyCapsule_IsValid(keep_.ptr(), "dltensor_versioned") != 0) {
    const auto* const managed = static_cast<const dlpack::ManagedVersioned*>(
        PyCapsule_GetPointer(keep_.ptr(), "dltensor_versioned"));
    is_read_only_ = (managed->flags & dlpack::read_only) != 0;
    tensor = &managed->tensor;
  } else {
    void* const managed = PyCapsule_GetPointer(keep_.ptr(), "dltensor");
    if (managed == nullptr) throw taken_error();
    is_read_only_ = is_immutable(object);
    tensor = &static_cast<const dlpack::Managed*>(managed)->tensor;
  }
  data_ = static_cast<std::byte*>(tensor->data) + tensor->byte_offset;
  const std::size_t bits = std::size_t{tensor->dtype.bits} * tensor->dtype.lanes;
  if (bits % 8 != 0) {
    // How they are packed, the capsule does not tell.
    refuse(std::string(call) + ": elements of " + std::to_string(bits) +
           " bits cannot be moved: convert them to a type of whole bytes");
  }
  dimensions_ = static_cast<std::size_t>(tensor->ndim);
  shape_ = tensor->shape;
  set_bytes(bits / 8, call);
  if (tensor->strides != nullptr) require_contiguous(tensor->strides, 1, call, object);
  dtype_ = dtype_of(tensor->dtype);
  is_boolean_ = static_cast<dlpack::Code>(tensor->dtype.code) == dlpack::Code::boolean;
  if (!dtype_) format_ = nb::cast<std::string>(nb::str(nb::getattr(object, "dtype", nb::none())));
  return true;
}

// ------------------------------------------------------------------------------------------------

/// The number of elements is that of the shape, which may be anything.
void Array::set_bytes(std::size_t item_bytes, const char* call) {
  item_bytes_ = item_bytes == 0 ? 1 : item_bytes;
  bytes_ = item_bytes;
  bool is_empty = item_bytes == 0;
  bool is_too_large = false;
  for (std::size_t i = 0; i < dimensions_; ++i) {
    if (shape_[i] < 0) {
      refuse(std::string(call) + ": the array has a negative length: " + std::to_string(shape_[i]));
    }
    is_empty = is_empty || shape_[i] == 0;
    is_too_large = __builtin_mul_overflow(bytes_, static_cast<std::uint64_t>(shape_[i]), &bytes_) ||
                   is_too_large;
  }
  if (is_empty) bytes_ = 0;
  if (!is_empty && (is_too_large || bytes_ > PTRDIFF_MAX)) {
    refuse(std::string(call) + ": the array's shape has more bytes than any memory");
  }
}

/// `unit` is the stride of neighbours in the last dimension.
void Array::require_contiguous(const std::int64_t* strides, std::int64_t unit, const char* call,
                               nb::handle object) const {
  if (bytes_ == 0 || strides == nullptr) return;
  std::int64_t expected = unit;
  bool is_contiguous = true;
  for (std::size_t i = dimensions_; i-- > 0;) {
    if (shape_[i] != 1 && strides[i] != expected) is_contiguous = false;
    expected *= shape_[i];
  }
  if (is_contiguous) return;
  std::string shape;
  for (std::size_t i = 0; i < dimensions_; ++i) {
    shape += (i == 0 ? "" : " x ") + std::to_string(shape_[i]);
  }
  const bool is_torch = has_attribute(object, "is_contiguous");
  refuse(std::string(call) + ": the array (" + shape +
         ") is not contiguous in memory, row by row: pass " +
         (is_torch ? "x.contiguous()" : "numpy.ascontiguousarray(x)") +
         ", which copies it; for a result, copy it back afterwards");
}

DType dtype_named(const std::string& name) {
  static constexpr std::array<std::pair<const char*, DType>, 17> known{{
      {"int8", DType::i8},
      {"uint8", DType::u8},
      {"int16", DType::i16},
      {"uint16", DType::u16},
      {"int32", DType::i32},
      {"uint32", DType::u32},
      {"int64", DType::i64},
      {"uint64", DType::u64},
      {"float16", DType::f16},
      {"bfloat16", DType::bf16},
      {"float8_e4m3fn", DType::f8e4m3},
      {"float8_e5m2", DType::f8e5m2},
      {"float32", DType::f32},
      {"float64", DType::f64},
      {"complex64", DType::complex64},
      {"complex128", DType::complex128},
      {"bool", DType::u8},
  }};
  for (const auto& [text, dtype] : known) {
    if (name == text) return dtype;
  }
  return parse_dtype(name);
}

}  // namespace tutti::python
