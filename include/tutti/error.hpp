#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <tutti/export.hpp>

namespace tutti {

/// What the caller can do about an error.
enum class ErrorCode {
  invalid_argument,  ///< Correct the call; nothing was done.
  unsupported,       ///< Ask for something else: this combination has no implementation.
  mismatch,          ///< Ranks disagree about the call: make them call the same thing.
  timed_out,         ///< Wait longer, or find out who is late.
  peer_lost,         ///< Go on without the peer, or start again.
  aborted,           ///< The communicator was given up: make a new one.
  internal,          ///< A defect of tutti: report it.
};

[[nodiscard]] TUTTI_API std::string_view name(ErrorCode code);

/// The one exception tutti throws. The message names the place and the cure.
class TUTTI_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);

  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tutti
