#pragma once

#include <cstdint>
#include <string>

namespace tutti {

/// Carries control messages from one member to the others, in order for each pair. Calls
/// Lifeline::receive(), lose() and tick() from a thread of its own.
class ControlTransport {
 public:
  virtual ~ControlTransport() = default;

  /// Never blocks. A message to a lost member is dropped.
  virtual void send(std::uint32_t to, std::string message) = 0;
  /// Something is to be decided, so deadlines matter: calls tick() every 20 ms until it returns
  /// false.
  virtual void request_ticks() = 0;
};

}  // namespace tutti
