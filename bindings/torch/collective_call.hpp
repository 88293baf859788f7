#pragma once

#include <chrono>
#include <string_view>

#include <tutti/tutti.h>

#include "failure.hpp"

namespace tutti_torch {

/// A collective of the C API, with the timeout of torch's call.
[[nodiscard]] inline tuttiCall_t collective_call(tuttiCollective_t collective,
                                                 std::chrono::milliseconds timeout) {
  tuttiCall_t call = TUTTI_CALL_INITIALIZER;
  call.collective = collective;
  call.timeout_ms = timeout.count();
  return call;
}

/// Runs it and throws its error. `name` is torch's name of the call.
inline void run(const tuttiCall_t& call, tuttiComm_t comm, std::string_view name) {
  require_success(tuttiRun(&call, comm), name, std::chrono::milliseconds(call.timeout_ms));
}

}  // namespace tutti_torch
