#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tutti/error.hpp>

#include "core/clock.hpp"

namespace tutti {

/// The communicator, as its point-to-point messages see it.
class MessageHost {
 public:
  virtual ~MessageHost() = default;

  /// Throws if the communicator can no longer be used.
  virtual void require_usable() = 0;
  /// True if there is a verdict, or if a rank has left.
  [[nodiscard]] virtual bool is_alarmed() const = 0;
  /// True if there is a verdict.
  [[nodiscard]] virtual bool is_closed() const = 0;
  /// Makes sure that this rank learns if that rank closes the communicator.
  virtual void inquire(std::uint32_t rank) = 0;
  /// How many messages a rank has sent to this one, if it has closed the communicator.
  [[nodiscard]] virtual std::optional<std::uint64_t> messages_of_leaver(
      std::uint32_t rank) const = 0;
  [[nodiscard]] virtual bool has_ended(std::uint32_t rank) const = 0;
  [[nodiscard]] virtual bool has_revoked(std::uint32_t rank) const = 0;
  /// Reports the error and the suspects to the other ranks, and waits for the verdict. Returns the
  /// error to throw.
  [[nodiscard]] virtual Error settle_message(const Error& error, const std::string& what,
                                             std::vector<std::uint32_t> suspects) = 0;
  [[nodiscard]] virtual Clock::duration usual_timeout() const = 0;
};

}  // namespace tutti
