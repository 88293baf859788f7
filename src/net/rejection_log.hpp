#pragma once

#include <functional>
#include <map>
#include <string>

#include <tutti/rank.hpp>

#include "core/clock.hpp"

namespace tutti {

/// Logs rejected connections, at most one line per source and second, so that a flood of
/// connections does not flood the log.
class RejectionLog {
 public:
  using Sink = std::function<void(const std::string& line)>;

  /// Writes to stderr if `sink` is null.
  explicit RejectionLog(Rank self, Sink sink = nullptr);

  void note_rejection(const std::string& source, const std::string& why, Clock::time_point now);

 private:
  struct Entry {
    Clock::time_point next{};  // Earliest time of the next line.
    std::size_t unsaid = 0;    // Rejections not logged since the last line.
  };

  Rank self_;
  Sink sink_;
  std::map<std::string, Entry> sources_;
};

}  // namespace tutti
