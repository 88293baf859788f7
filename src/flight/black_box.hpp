#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "core/process_origin.hpp"
#include "flight/recorder.hpp"
#include "flight/settings.hpp"

namespace tutti {

/// A flight recorder whose records outlive the process. If the settings name a directory, the
/// records are dumped there when a call fails, when a signal requests it, and when a signal is
/// about to end the process (see signals.hpp).
///
/// The files are DIRECTORY/flight-<pid>-<communicator>-<rank>.jsonl. A later dump replaces an
/// earlier one and still contains its failure.
class BlackBox {
 public:
  BlackBox(FlightOwner owner, const FlightSettings& settings);
  ~BlackBox();
  BlackBox(const BlackBox&) = delete;
  BlackBox& operator=(const BlackBox&) = delete;

  [[nodiscard]] FlightRecorder& recorder() { return recorder_; }
  [[nodiscard]] const FlightRecorder& recorder() const { return recorder_; }
  /// The recorder of sends and receives, which overlap each other and the collectives.
  [[nodiscard]] FlightRecorder& messages() { return messages_; }
  [[nodiscard]] const FlightRecorder& messages() const { return messages_; }

  /// Records that the current call, if any, and the communicator have failed, and writes a dump. If
  /// the dump cannot be written, prints a line to stderr and continues. For the thread that
  /// records.
  void fail_call(std::string_view why);
  /// As fail_call(), for any thread: a call that another thread runs is not marked as failed.
  void fail(std::string_view why);

  /// False in a forked child, which is not the rank whose calls are recorded.
  [[nodiscard]] bool is_here() const { return origin_.is_here(); }
  /// Returns 0 or an errno. Async-signal-safe.
  [[nodiscard]] int dump(std::string_view reason, std::string_view suffix) const;

 private:
  std::mutex failing_;  // A running call and a rejected one may fail at the same time.
  FlightRecorder recorder_;
  FlightRecorder messages_;
  std::string directory_;
  ProcessOrigin origin_{};
};

}  // namespace tutti
