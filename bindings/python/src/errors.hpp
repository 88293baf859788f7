#pragma once

#include <exception>
#include <memory>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <tutti/communicator.hpp>
#include <tutti/error.hpp>

namespace tutti::python {

namespace nb = nanobind;

/// A Python exception on its way through the library, which passes on what its callbacks throw.
class PythonFailure : public std::exception {
 public:
  /// Takes the current Python error. Requires the GIL and a current error.
  PythonFailure();

  /// "KeyboardInterrupt", "ValueError: …": the other ranks get it in their errors.
  [[nodiscard]] const char* what() const noexcept override { return words_.c_str(); }
  /// Makes it the current Python error again. Requires the GIL.
  void restore() const;
  [[nodiscard]] nb::handle value() const { return error_->value(); }

 private:
  std::shared_ptr<nb::python_error> error_;
  std::string words_;
};

/// Makes the exception that is being handled the current Python error. Requires the GIL. With a
/// communicator the error gets the fields of its verdict.
void set_python_error(const Communicator* communicator = nullptr) noexcept;

/// If the current Python error is one of tutti's own, throws it as tutti::Error; otherwise as
/// PythonFailure. Requires the GIL and a current error.
[[noreturn]] void throw_python_error();

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

/// For an argument of a type that the call does not take: also a TypeError in Python.
class WrongType : public Error {
 public:
  explicit WrongType(const std::string& message) : Error(ErrorCode::invalid_argument, message) {}
};

void register_errors(nb::module_& module);

}  // namespace tutti::python
