#include "reduction.hpp"

#include <memory>
#include <string>

#include "errors.hpp"

namespace tutti::python {
namespace {

/// A reference that any thread may drop, with or without the GIL.
std::shared_ptr<PyObject> shared(nb::handle object) {
  Py_INCREF(object.ptr());
  return {object.ptr(), [](PyObject* last) {
            if (Py_IsInitialized() == 0) return;
            const nb::gil_scoped_acquire gil;
            Py_DECREF(last);
          }};
}

nb::object memory(void* data, std::size_t bytes, int access) {
  return nb::steal(
      PyMemoryView_FromMemory(static_cast<char*>(data), static_cast<Py_ssize_t>(bytes), access));
}

/// Calls tutti._arrays.combine(function, accumulator, contribution, dtype) for each block of data.
Reduction by_function(nb::handle function, const Array& array) {
  const nb::object combine = nb::module_::import_("tutti._arrays").attr("combine");
  const std::string dtype(name(*array.dtype()));
  return Reduction(
      [combine = shared(combine), function = shared(function), dtype, item = array.item_bytes()](
          void* accumulator, const void* contribution, std::size_t count) {
        const nb::gil_scoped_acquire gil;
        try {
          nb::handle(combine.get())(
              nb::handle(function.get()), memory(accumulator, count * item, PyBUF_WRITE),
              memory(const_cast<void*>(contribution), count * item, PyBUF_READ), dtype.c_str());
        } catch (nb::python_error& error) {
          error.restore();
          throw PythonFailure();
        }
      });
}

}  // namespace

Reduction reduction_of(nb::handle op, const Array& array, const char* call) {
  if (!array.dtype()) {
    throw WrongType(std::string(call) + ": elements of type " + array.type_name() +
                    " cannot be reduced: tutti reduces integers of 8 to 64 bits, float8_e4m3fn, "
                    "float8_e5m2, float16, bfloat16, float32, float64, complex64 and complex128");
  }
  if (op.ptr() == nullptr && !array.is_boolean()) return Op::sum;
  if (op.ptr() != nullptr && PyCallable_Check(op.ptr()) != 0) return by_function(op, array);
  if (op.ptr() != nullptr && PyUnicode_Check(op.ptr()) == 0) {
    throw WrongType(std::string(call) +
                    ": op must be a name, such as 'sum', or a function of two arrays");
  }
  Op named = Op::sum;
  if (op.ptr() != nullptr) {
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(op.ptr(), &length);
    if (text == nullptr) throw nb::python_error();
    const std::string_view word(text, static_cast<std::size_t>(length));
    // The most frequent ones without a search.
    named = word == "sum" ? Op::sum : word == "avg" ? Op::avg : parse_op(word);
  }
  const bool suits_booleans = named == Op::min || named == Op::max || named == Op::band ||
                              named == Op::bor || named == Op::bxor;
  if (array.is_boolean() && !suits_booleans) {
    refuse(std::string(call) + ": op '" + std::string(name(named)) +
           "' of booleans is no boolean: use 'max' or 'bor' for any(), 'min' or 'band' for all(), "
           "or convert them to integers");
  }
  return named;
}

}  // namespace tutti::python
