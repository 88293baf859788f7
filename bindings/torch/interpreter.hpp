#pragma once

namespace tutti_torch {

/// Lets go of the interpreter's lock, if this thread has it, until the end of the scope: a call
/// that this thread waits for may need it.
class WithoutInterpreter {
 public:
  WithoutInterpreter();
  WithoutInterpreter(const WithoutInterpreter&) = delete;
  WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;
  ~WithoutInterpreter();

 private:
  void* thread_ = nullptr;
};

}  // namespace tutti_torch
