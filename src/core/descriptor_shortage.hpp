#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace tutti {

/// Tells a moment without free descriptors, which passes, from a limit that is too low (ulimit -n).
class DescriptorShortage {
 public:
  using Clock = std::chrono::steady_clock;

  /// How the last attempt to open one went: an error number, or 0.
  void note(int error, Clock::time_point now);
  /// Whether every attempt has failed for lack of descriptors for a second.
  [[nodiscard]] bool lasts(Clock::time_point now) const;
  /// Throws unsupported if it lasts. The message is `what` and the limit to be raised.
  void require_none(const std::string& what, Clock::time_point now) const;

 private:
  std::optional<Clock::time_point> since_{};
  int error_ = 0;
};

/// How many descriptors this process can still open; none if the system does not tell.
[[nodiscard]] std::optional<std::size_t> free_descriptors();

}  // namespace tutti
