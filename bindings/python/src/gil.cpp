#include "gil.hpp"

#include <unistd.h>

#include "errors.hpp"

namespace tutti::python {

void check_signals() {
  // Python runs handlers in its main thread, which is that of the process.
  if (gettid() != getpid()) return;
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw PythonFailure();
}

}  // namespace tutti::python
