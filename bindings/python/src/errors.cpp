#include "errors.hpp"

namespace tutti::python {
namespace {

/// tutti._errors.make(code, message, ranks, calls), which returns the exception.
void raise(const char* code, const std::string& message, const Verdict* verdict) {
  const nb::object make = nb::module_::import_("tutti._errors").attr("make");
  nb::list ranks;
  nb::dict calls;
  if (verdict != nullptr) {
    for (const std::uint32_t rank : verdict->ranks) ranks.append(rank);
    for (const RankCall& call : verdict->calls) {
      calls[nb::int_(call.rank)] = nb::str(call.words.data(), call.words.size());
    }
  }
  // Replaces bytes that are not UTF-8: a message may quote a file name.
  const nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  const nb::object error = make(code, text, ranks, calls);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

std::optional<Verdict> verdict_of(const Communicator* communicator) {
  if (communicator == nullptr) return std::nullopt;
  try {
    return communicator->verdict();
  } catch (const Error&) {  // In a forked child.
    return std::nullopt;
  }
}

/// The message of a Python error, with its type.
std::string words_of(const nb::python_error& error) {
  const nb::object type = error.type().attr("__name__");
  std::string words = nb::cast<std::string>(type);
  try {
    const std::string text = nb::cast<std::string>(nb::str(error.value()));
    if (!text.empty()) words += ": " + text;
  } catch (const std::exception&) {
    PyErr_Clear();
  }
  return words;
}

void set_from_handled(const Communicator* communicator) {
  try {
    throw;
  } catch (const PythonFailure& failure) {
    failure.restore();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const WrongType& error) {
    raise("wrong_type", error.what(), nullptr);
  } catch (const Error& error) {
    const bool is_about_ranks =
        error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::unsupported;
    const std::optional<Verdict> verdict = is_about_ranks ? verdict_of(communicator) : std::nullopt;
    raise(std::string(name(error.code())).c_str(), error.what(), verdict ? &*verdict : nullptr);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an exception of unknown type");
  }
}

}  // namespace

PythonFailure::PythonFailure() : error_(std::make_shared<nb::python_error>()) {
  words_ = words_of(*error_);
}

void PythonFailure::restore() const {
  PyErr_Restore(error_->type().inc_ref().ptr(), error_->value().inc_ref().ptr(),
                error_->traceback().inc_ref().ptr());
}

void set_python_error(const Communicator* communicator) noexcept {
  try {
    set_from_handled(communicator);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "tutti: the error could not be described");
  }
}

void throw_python_error() {
  const PythonFailure failure;
  const nb::object base = nb::module_::import_("tutti._errors").attr("Error");
  if (PyErr_GivenExceptionMatches(failure.value().ptr(), base.ptr()) == 0) throw failure;
  const nb::object code = nb::getattr(failure.value(), "code", nb::none());
  if (nb::isinstance<nb::str>(code)) {
    const std::string text = nb::cast<std::string>(code);
    for (int each = 0; each <= static_cast<int>(ErrorCode::internal); ++each) {
      const auto known = static_cast<ErrorCode>(each);
      if (text == name(known)) {
        throw Error(known, nb::cast<std::string>(nb::str(failure.value())));
      }
    }
  }
  throw failure;
}

void register_errors(nb::module_& /*module*/) {
  nb::register_exception_translator([](const std::exception_ptr& caught, void*) {
    try {
      std::rethrow_exception(caught);
    } catch (const PythonFailure&) {
      set_python_error();
    } catch (const Error&) {
      set_python_error();
    }
  });
}

}  // namespace tutti::python
