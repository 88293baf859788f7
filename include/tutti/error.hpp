#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <tutti/export.hpp>

namespace tutti {

/// The kind of an error, by what the caller can do about it.
enum class ErrorCode {
  invalid_argument,  ///< Correct the call; nothing was done.
  unsupported,       ///< Ask for something else: this combination has no implementation.
  mismatch,          ///< Ranks disagree about the call: make them call the same thing.
  timed_out,         ///< Raise the timeout, or find out which rank is late.
  peer_lost,         ///< Continue without the peer, or restart.
  aborted,           ///< The communicator was aborted: create a new one.
  internal,          ///< A bug in tutti: report it.
};

[[nodiscard]] TUTTI_API std::string_view name(ErrorCode code);

/// The only exception type that tutti throws. The message says where it happened and the cure.
class TUTTI_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);

  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tutti
