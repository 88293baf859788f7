#pragma once

#include <Python.h>

namespace tutti::python {

/// Other Python threads run while this lives. Requires the GIL.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// In the main thread: runs the Python handlers of signals that have arrived, and throws
/// PythonFailure if one raises, as Ctrl-C does. Nothing in other threads. Takes the GIL itself.
void check_signals();

/// The longest wait in C++ before check_signals().
inline constexpr int milliseconds_between_signals = 100;

}  // namespace tutti::python
