#pragma once

#include <cstdint>
#include <string>

namespace tutti {

/// Which members a control message is for. Not all members are connected to each other: see Mesh.
enum class Delivery : std::uint8_t {
  connects,      ///< To the member in any case: connects to it if necessary.
  if_connected,  ///< Dropped if there is no connection: the member will ask if it wants to know.
  if_not_connected,  ///< Connects. Dropped if there is a connection already.
};

/// Carries control messages from one member to the others, in order for each pair. Calls
/// Lifeline::receive(), lose() and tick() from a thread of its own.
class ControlTransport {
 public:
  virtual ~ControlTransport() = default;

  /// Never blocks. A message to a lost member is dropped.
  virtual void send(std::uint32_t to, std::string message, Delivery delivery) = 0;
  /// Something is to be decided, so deadlines matter: calls tick() every 20 ms until it returns
  /// false.
  virtual void request_ticks() = 0;
};

}  // namespace tutti
