#pragma once

#include <functional>
#include <map>
#include <string>

#include <tutti/rank.hpp>

#include "core/clock.hpp"

namespace tutti {

/// Tells who was turned away at a rank's door, at most once per source and second, so that a flood
/// of strangers floods no log.
class RejectionLog {
 public:
  using Sink = std::function<void(const std::string& line)>;

  /// Writes to stderr unless told otherwise.
  explicit RejectionLog(Rank self, Sink sink = nullptr);

  void note_rejection(const std::string& source, const std::string& why, Clock::time_point now);

 private:
  struct Entry {
    Clock::time_point next{};  // Not before then.
    std::size_t unsaid = 0;
  };

  Rank self_;
  Sink sink_;
  std::map<std::string, Entry> sources_;
};

}  // namespace tutti
