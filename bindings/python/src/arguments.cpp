#include "arguments.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "errors.hpp"

namespace tutti::python {
namespace {

constexpr std::array<const char*, argument_count> names{
    "x",     "op",      "out",  "root",       "counts",       "out_counts",
    "to",    "source",  "tag",  "async_",     "algorithm",    "schedule",
    "shape", "timeout", "site", "keep_input", "reproducible", "may_be_shorter"};

/// Interned, so that most comparisons are of pointers. Never freed.
const std::array<PyObject*, argument_count>& interned() {
  static const std::array<PyObject*, argument_count> all = [] {
    std::array<PyObject*, argument_count> made{};
    for (std::size_t i = 0; i < argument_count; ++i) {
      made[i] = PyUnicode_InternFromString(names[i]);
    }
    return made;
  }();
  return all;
}

[[noreturn]] void type_error(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

std::optional<Arg> find(const Signature& signature, PyObject* name) {
  const auto& all = interned();
  for (std::size_t i = 0; i < signature.count; ++i) {
    if (all[static_cast<std::size_t>(signature.arguments[i])] == name) {
      return signature.arguments[i];
    }
  }
  for (std::size_t i = 0; i < signature.count; ++i) {
    const Arg argument = signature.arguments[i];
    if (PyUnicode_Compare(all[static_cast<std::size_t>(argument)], name) == 0) return argument;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_unknown(const Signature& signature, PyObject* given) {
  std::string known;
  for (std::size_t i = 0; i < signature.count; ++i) {
    known += (i == 0 ? "" : ", ") + std::string(name(signature.arguments[i]));
  }
  type_error(std::string(signature.name) + "() has no argument '" +
             nb::cast<std::string>(nb::handle(given)) + "'; it takes " + known);
}

}  // namespace

const char* name(Arg argument) { return names[static_cast<std::size_t>(argument)]; }

Signature::Signature(const char* method, std::initializer_list<Arg> by_position,
                     std::initializer_list<std::initializer_list<Arg>> by_name)
    : name(method), positional(by_position.size()), count(0), arguments{} {
  for (const Arg each : by_position) arguments[count++] = each;
  for (const auto& group : by_name) {
    for (const Arg each : group) arguments[count++] = each;
  }
}

Signature Signature::without(Arg argument, const char* method) const {
  Signature made = *this;
  made.name = method;
  const auto begin = made.arguments.begin();
  const auto end = std::remove(begin, begin + static_cast<std::ptrdiff_t>(count), argument);
  made.count = static_cast<std::size_t>(end - begin);
  return made;
}

Arguments::Arguments(const Signature& signature, PyObject* const* values, Py_ssize_t count,
                     PyObject* named)
    : method_(signature.name) {
  const auto by_position = static_cast<std::size_t>(count);
  if (by_position > signature.positional) {
    type_error(std::string(method_) + "() takes at most " + std::to_string(signature.positional) +
               " arguments by position; name the others");
  }
  for (std::size_t i = 0; i < by_position; ++i) {
    values_[static_cast<std::size_t>(signature.arguments[i])] = values[i];
  }
  if (named == nullptr) return;
  const Py_ssize_t by_name = PyTuple_Size(named);
  for (Py_ssize_t i = 0; i < by_name; ++i) {
    PyObject* const given = PyTuple_GetItem(named, i);
    const std::optional<Arg> argument = find(signature, given);
    if (!argument) refuse_unknown(signature, given);
    PyObject*& value = values_[static_cast<std::size_t>(*argument)];
    if (value != nullptr) {
      type_error(std::string(method_) + "() got argument '" + name(*argument) + "' twice");
    }
    value = values[count + i];
  }
}

nb::handle Arguments::required(Arg argument) const {
  const nb::handle value = (*this)[argument];
  if (value.ptr() != nullptr) return value;
  type_error(std::string(method_) + "() needs the argument '" + name(argument) + "'");
}

bool Arguments::flag(Arg argument) const {
  const nb::handle value = (*this)[argument];
  if (value.ptr() == nullptr || value.ptr() == Py_False) return false;
  if (value.ptr() == Py_True) return true;
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

std::uint32_t Arguments::rank(Arg argument, std::uint32_t otherwise) const {
  const nb::handle value = (*this)[argument];
  if (value.ptr() == nullptr) return otherwise;
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole) {
    PyErr_Clear();
    throw WrongType(std::string(method_) + ": " + name(argument) + " must be a whole number");
  }
  const long long number = PyLong_AsLongLong(whole.ptr());
  if (number < 0 || number > 0xFFFFFFFELL) {
    PyErr_Clear();
    refuse(std::string(method_) + ": " + name(argument) + " is " +
           nb::cast<std::string>(nb::str(whole)) + ", which is out of range");
  }
  return static_cast<std::uint32_t>(number);
}

std::string_view Arguments::text(Arg argument) const {
  const nb::handle value = (*this)[argument];
  if (value.ptr() == nullptr) return {};
  if (PyUnicode_Check(value.ptr()) == 0) {
    throw WrongType(std::string(method_) + ": " + name(argument) + " must be a str");
  }
  Py_ssize_t length = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &length);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(length)};
}

std::int64_t milliseconds_of(nb::handle seconds, const char* what) {
  const double time = PyFloat_AsDouble(seconds.ptr());
  if (time == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw WrongType(std::string(what) + ": the time must be a number of seconds");
  }
  if (!(time > 0)) refuse(std::string(what) + ": the time must be more than 0 seconds");
  constexpr double a_year = 365.0 * 24 * 3600;
  return static_cast<std::int64_t>(std::ceil(std::min(time, a_year) * 1000));
}

std::int64_t Arguments::milliseconds(Arg argument) const {
  const nb::handle value = (*this)[argument];
  return value.ptr() == nullptr ? 0 : milliseconds_of(value, method_);
}

std::vector<std::uint64_t> Arguments::list(Arg argument) const {
  std::vector<std::uint64_t> numbers;
  const nb::handle value = (*this)[argument];
  if (value.ptr() == nullptr) return numbers;
  const nb::object items = nb::steal(PySequence_List(value.ptr()));
  if (!items) {
    PyErr_Clear();
    throw WrongType(std::string(method_) + ": " + name(argument) +
                    " must be a sequence of whole numbers");
  }
  for (const nb::handle item : nb::cast<nb::list>(items)) {
    const nb::object whole = nb::steal(PyNumber_Index(item.ptr()));
    const long long number = whole ? PyLong_AsLongLong(whole.ptr()) : -1;
    if (number < 0) {
      PyErr_Clear();
      refuse(std::string(method_) + ": " + name(argument) +
             " must hold whole numbers that are not negative");
    }
    numbers.push_back(static_cast<std::uint64_t>(number));
  }
  return numbers;
}

}  // namespace tutti::python
