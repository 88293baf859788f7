#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tutti::cli {

/// A progress bar on standard error, if that is a terminal. Appears after half a second.
class Progress {
 public:
  /// 100 % is reached when advance() calls add up to `total`.
  explicit Progress(std::string what, std::uint64_t total = 1000);
  /// Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Adds to what is done. Thread-safe.
  void advance(std::uint64_t by = 1);
  /// Sets the share that is done, from 0 to 1. Thread-safe.
  void set(double share);
  /// Clears the line until the next update, so that other text can be printed.
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

  void draw();  // Requires: the mutex is locked.

  std::string what_;
  std::uint64_t total_;
  bool terminal_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;
  bool visible_ = false;
};

}  // namespace tutti::cli
