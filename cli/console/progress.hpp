#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tutti::cli {

/// How far long work has come, on standard error if that is a terminal, from half a second on.
class Progress {
 public:
  Progress(std::string what, std::uint64_t total);
  /// Wipes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So much more is done. From any thread.
  void advance(std::uint64_t by = 1);
  /// Wipes the line until the next advance(), for other text to come in its place.
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

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
