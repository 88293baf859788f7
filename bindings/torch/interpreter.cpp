#include "interpreter.hpp"

#include <Python.h>

namespace tutti_torch {

WithoutInterpreter::WithoutInterpreter() {
  if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) thread_ = PyEval_SaveThread();
}

WithoutInterpreter::~WithoutInterpreter() {
  if (thread_ != nullptr) PyEval_RestoreThread(static_cast<PyThreadState*>(thread_));
}

}  // namespace tutti_torch
