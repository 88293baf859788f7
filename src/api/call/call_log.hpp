#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <tutti/call.hpp>

namespace tutti {

/// Writes a line of JSON for each call to the file that TUTTI_LOG_JSONL names. Several ranks may
/// share a file, since each line is written by one write(2) in append mode.
class CallLog {
 public:
  /// The facts that are logged about a call.
  struct Entry {
    std::uint32_t rank;
    std::uint32_t ranks;
    std::uint64_t number;  ///< The number of the call on its communicator.
    const Call& call;
    std::string_view algorithm;
    std::uint64_t bytes;           ///< Of the larger buffer.
    std::uint64_t bytes_sent;      ///< By this rank in this call.
    std::uint64_t bytes_received;  ///< By this rank in this call.
    std::chrono::nanoseconds time;
    std::string_view error;  ///< Empty if the call succeeded.
  };

  /// Throws invalid_argument that names the file if it cannot be opened.
  explicit CallLog(const std::string& path);
  ~CallLog();
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  void write(const Entry& entry);

 private:
  std::string path_;
  int fd_;
  bool complained_ = false;
};

}  // namespace tutti
