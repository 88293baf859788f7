#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace tutti {

/// Tells a brief shortage of file descriptors from a limit that is too low (ulimit -n).
class DescriptorShortage {
 public:
  using Clock = std::chrono::steady_clock;

  /// Records the result of the last attempt to open a descriptor: an error number, or 0.
  void note(int error, Clock::time_point now);
  /// True if every attempt in the last second failed for lack of descriptors.
  [[nodiscard]] bool lasts(Clock::time_point now) const;
  /// Throws unsupported if lasts(). The message is `what` and the limit to raise.
  void require_none(const std::string& what, Clock::time_point now) const;

 private:
  std::optional<Clock::time_point> since_{};
  int error_ = 0;
};

/// The number of descriptors that this process can still open; no value if the system does not
/// tell.
[[nodiscard]] std::optional<std::size_t> free_descriptors();

}  // namespace tutti
