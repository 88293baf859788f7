#include "failure.hpp"

#include <c10/util/Exception.h>

namespace tutti_torch {

void refuse(std::string_view call, const std::string& reason) {
  C10_THROW_ERROR(ValueError, "tutti " + std::string(call) + ": " + reason);
}

void fail(std::string_view call, const std::string& reason) {
  C10_THROW_ERROR(DistBackendError, "tutti " + std::string(call) + ": " + reason);
}

void require_success(tuttiResult_t result, std::string_view call,
                     std::chrono::milliseconds timeout) {
  if (result == tuttiSuccess) return;
  const std::string words = tuttiGetLastError(nullptr);
  switch (result) {
    case tuttiInvalidArgument:
      refuse(call, words);
    case tuttiUnsupported:
      C10_THROW_ERROR(NotImplementedError, "tutti " + std::string(call) + ": " + words);
    case tuttiTimedOut:
      fail(call,
           "Timed out waiting " + std::to_string(timeout.count()) + "ms for other ranks: " + words);
    case tuttiPeerLost:
      // Programs that recover look for these words of gloo.
      fail(call, "Connection closed by peer: " + words);
    default:
      fail(call, words);
  }
}

}  // namespace tutti_torch
