#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/counters.hpp>
#include <tutti/error.hpp>
#include <tutti/message.hpp>
#include <tutti/work.hpp>

#include "api/failure/message_host.hpp"
#include "api/failure/running_messages.hpp"
#include "flight/recorder.hpp"
#include "messages/messenger.hpp"

namespace tutti {

/// The sends and receives of one communicator. Thread-safe.
class PointToPoint final : private MessageOwner {
 public:
  /// What it refers to must outlive this object.
  PointToPoint(Messenger& messenger, const Membership& membership, MessageHost& host,
               RunningMessages& running, FlightRecorder& recorder);
  /// Waits until all sends are done, and a short time for the receives. Receives that are still
  /// pending then fail.
  ~PointToPoint() override;
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  /// Runs all messages and returns when all are done. Returns the envelopes of the receives.
  std::vector<Envelope> run(std::span<const Outgoing> out, std::span<const Incoming> in,
                            const MessageOptions& options);
  [[nodiscard]] Work start(std::span<const Outgoing> out, std::span<const Incoming> in,
                           const MessageOptions& options);
  [[nodiscard]] std::optional<Envelope> probe(std::uint32_t rank, std::uint32_t tag);
  [[nodiscard]] Envelope wait_for_message(std::uint32_t rank, std::uint32_t tag,
                                          const MessageOptions& options);

  /// Waits as the destructor does. Returns how many messages were sent to each rank.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> finish();

  /// The messages that are done, by peer.
  [[nodiscard]] Counters counters();

  /// Fails all pending messages with `cause`. Does not touch the caller's memory after it returns.
  void end(const Error& cause);

 private:
  class Batch;
  class Flight;
  class Settling;
  class Visitors;

  void end(const std::function<Error(const Message&)>& cause_for);

  [[nodiscard]] bool is_alarmed() const override { return host_.is_alarmed(); }
  void check(const Message& message, Clock::duration waited) override;
  [[nodiscard]] bool needs_leaver(const Message& message, std::uint32_t rank,
                                  Clock::duration waited);
  [[nodiscard]] Clock::duration since_leave_of(std::uint32_t rank);
  [[nodiscard]] bool has_ended(std::uint32_t rank) const override { return host_.has_ended(rank); }
  [[nodiscard]] bool has_revoked(std::uint32_t rank) const override {
    return host_.has_revoked(rank);
  }
  void note_failure(std::shared_ptr<Message> message, std::exception_ptr cause) override;

  [[nodiscard]] std::vector<std::shared_ptr<Message>> make(std::span<const Outgoing> out,
                                                           std::span<const Incoming> in,
                                                           const MessageOptions& options) const;
  void check_arguments(std::span<const Outgoing> out, std::span<const Incoming> in) const;
  void note_settled();
  void wait_for_verdicts();
  [[nodiscard]] Error settled(const Message& message, const std::exception_ptr& cause);
  [[nodiscard]] std::string words(const Message& message) const;
  [[nodiscard]] Clock::time_point deadline_of(const MessageOptions& options) const;
  void count(RunningMessages::Messages messages);

  Messenger& messenger_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  MessageHost& host_;
  std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<Visitors> visitors_;
  std::mutex ending_;
  std::condition_variable settled_;
  std::size_t settling_ = 0;                                // Failures that wait for a verdict.
  std::map<std::uint32_t, Clock::time_point> leaves_seen_;  // When a message first asked.
  bool is_finished_ = false;
  bool has_ended_ = false;
  bool is_closed_ = false;  // end() is complete: no message touches the caller's memory.
  RunningMessages& running_;
  std::mutex recording_;
  FlightRecorder& recorder_;
  std::uint64_t messages_ = 0;
  Counters counters_{};  // Guarded by recording_.
};

}  // namespace tutti
