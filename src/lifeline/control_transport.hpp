#pragma once

#include <cstdint>
#include <string>

namespace tutti {

/// Carries letters from one member of a group to the others, in order for each pair. What comes,
/// and who is lost, it tells the Lifeline from a thread of its own.
class ControlTransport {
 public:
  virtual ~ControlTransport() = default;

  /// Never waits. What cannot be delivered is lost with its addressee.
  virtual void send(std::uint32_t to, std::string letter) = 0;
  /// From now on time matters: tick() is to be called often.
  virtual void hurry() = 0;
};

}  // namespace tutti
