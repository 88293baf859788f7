#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "core/process_origin.hpp"
#include "flight/recorder.hpp"
#include "flight/settings.hpp"

namespace tutti {

/// A flight recorder whose records outlive the process: where the settings name a directory, they
/// are dumped there when a call fails, and when a signal asks for them or is about to end the
/// process (see signals.hpp).
///
/// The files are DIRECTORY/flight-<pid>-<communicator>-<rank>.jsonl; a later dump takes the place
/// of an earlier one, and holds the failure that the earlier one told of.
class BlackBox {
 public:
  BlackBox(FlightOwner owner, const FlightSettings& settings);
  ~BlackBox();
  BlackBox(const BlackBox&) = delete;
  BlackBox& operator=(const BlackBox&) = delete;

  [[nodiscard]] FlightRecorder& recorder() { return recorder_; }
  [[nodiscard]] const FlightRecorder& recorder() const { return recorder_; }
  /// Of sends and receives, which overlap each other and the calls of all ranks.
  [[nodiscard]] FlightRecorder& messages() { return messages_; }
  [[nodiscard]] const FlightRecorder& messages() const { return messages_; }

  /// The call under way, if any, has failed, and with it the communicator. A dump that cannot be
  /// written takes a line on standard error and harms nobody.
  void fail(std::string_view why);

  /// False in a forked child, which is not the rank that it would tell of.
  [[nodiscard]] bool is_here() const { return origin_.is_here(); }
  /// Returns zero, or the errno of what went wrong. A signal handler may call it.
  [[nodiscard]] int dump(std::string_view reason, std::string_view suffix) const;

 private:
  std::mutex failing_;  // A call and another that is refused may fail at once.
  FlightRecorder recorder_;
  FlightRecorder messages_;
  std::string directory_;
  ProcessOrigin origin_{};
};

}  // namespace tutti
