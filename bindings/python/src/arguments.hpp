#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

namespace tutti::python {

namespace nb = nanobind;

/// The arguments of all collectives and messages.
enum class Arg : std::uint8_t {
  x,
  op,
  out,
  root,
  counts,
  out_counts,
  to,
  source,
  tag,
  async,
  algorithm,
  schedule,
  shape,
  timeout,
  site,
  keep_input,
  reproducible,
  may_be_shorter,
};
inline constexpr std::size_t argument_count = static_cast<std::size_t>(Arg::may_be_shorter) + 1;

/// The name of a method and of its arguments: first those that may be given by position.
struct Signature {
  const char* name;
  std::size_t positional;
  std::size_t count;
  std::array<Arg, argument_count> arguments;

  Signature(const char* method, std::initializer_list<Arg> by_position,
            std::initializer_list<std::initializer_list<Arg>> by_name);
  /// The same without an argument, for a method of another name.
  [[nodiscard]] Signature without(Arg argument, const char* method) const;
};

/// The arguments of one call, as CPython's vectorcall passes them. No Python object is made: such a
/// call takes a tenth of a microsecond less than one with a tuple and a dict.
class Arguments {
 public:
  /// Throws a Python TypeError for unknown, repeated or surplus arguments.
  Arguments(const Signature& signature, PyObject* const* values, Py_ssize_t count, PyObject* names);

  [[nodiscard]] const char* method() const { return method_; }
  /// None and an argument that was not given are the same: null.
  [[nodiscard]] nb::handle operator[](Arg argument) const {
    PyObject* const value = values_[static_cast<std::size_t>(argument)];
    return value == Py_None ? nullptr : value;
  }
  /// Throws a Python TypeError if it was not given.
  [[nodiscard]] nb::handle required(Arg argument) const;

  // Each throws invalid_argument for a value of another type.
  [[nodiscard]] bool flag(Arg argument) const;
  [[nodiscard]] std::uint32_t rank(Arg argument, std::uint32_t otherwise) const;
  /// Valid as long as the arguments. Empty if not given.
  [[nodiscard]] std::string_view text(Arg argument) const;
  /// Seconds as milliseconds, at least 1; 0 if not given.
  [[nodiscard]] std::int64_t milliseconds(Arg argument) const;
  [[nodiscard]] std::vector<std::uint64_t> list(Arg argument) const;

 private:
  const char* method_;
  std::array<PyObject*, argument_count> values_{};
};

/// The Python name of an argument.
[[nodiscard]] const char* name(Arg argument);
/// Seconds, as a float or int of Python, in milliseconds, at least 1.
[[nodiscard]] std::int64_t milliseconds_of(nb::handle seconds, const char* what);

}  // namespace tutti::python
