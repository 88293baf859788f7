#pragma once

#include <chrono>
#include <functional>

#include <tutti/error.hpp>

namespace tutti::synthesis {

/// Limits a synthesis in time, and reports its progress.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  /// `progress` gets the finished share, from 0 to 1, and returns false to stop.
  Pace(double seconds, std::function<bool(double)> progress)
      : begin_(Clock::now()), seconds_(seconds), progress_(std::move(progress)) {}

  [[nodiscard]] bool is_over() const { return elapsed() > seconds_; }
  /// True if so little time is left that the next attempt should begin.
  [[nodiscard]] bool is_late() const { return elapsed() > 0.7 * seconds_; }
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  /// Throws `aborted` if the caller wants to stop.
  void report(double share) const {
    if (progress_ && !progress_(share))
      throw Error(ErrorCode::aborted, "the synthesis was stopped");
  }

 private:
  Clock::time_point begin_;
  double seconds_;
  std::function<bool(double)> progress_;
};

}  // namespace tutti::synthesis
