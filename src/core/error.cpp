#include <tutti/error.hpp>

namespace tutti {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::mismatch:
      return "mismatch";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::peer_lost:
      return "peer_lost";
    case ErrorCode::aborted:
      return "aborted";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(message), code_(code) {}

}  // namespace tutti
