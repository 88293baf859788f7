#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/message.hpp>
#include <tutti/work.hpp>

#include "exec/messenger.hpp"
#include "flight/recorder.hpp"

namespace tutti {

/// What the messages of a communicator need of it.
class MessageHost {
 public:
  virtual ~MessageHost() = default;

  /// Throws if the communicator can no longer be used.
  virtual void require_usable() = 0;
  /// Whether there is something to look at: a verdict, or somebody has left.
  [[nodiscard]] virtual bool is_alarmed() const = 0;
  /// Whether there is a verdict.
  [[nodiscard]] virtual bool is_closed() const = 0;
  /// Whether a rank has closed the communicator.
  [[nodiscard]] virtual bool has_left(std::uint32_t rank) const = 0;
  [[nodiscard]] virtual bool has_ended(std::uint32_t rank) const = 0;
  [[nodiscard]] virtual bool has_stood_down(std::uint32_t rank) const = 0;
  /// Tells the others what went wrong and whom to suspect, and waits for the verdict. Returns what
  /// to throw.
  [[nodiscard]] virtual Error settle_message(const Error& error, const std::string& what,
                                             std::vector<std::uint32_t> suspects) = 0;
  [[nodiscard]] virtual Clock::duration usual_timeout() const = 0;
};

/// The sends and receives of one communicator. Thread-safe.
class PointToPoint final : private MessageOwner {
 public:
  /// The host and the messenger must outlive this.
  PointToPoint(Messenger& messenger, const Membership& membership, MessageHost& host,
               FlightRecorder& recorder);
  /// Waits until what was sent has gone, and a while for what was to be received; then receives end
  /// with an error.
  ~PointToPoint() override;
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  /// Does all of them, and returns when all are done: the envelopes of what was received.
  std::vector<Envelope> run(std::span<const Outgoing> out, std::span<const Incoming> in,
                            const MessageOptions& options);
  [[nodiscard]] Work start(std::span<const Outgoing> out, std::span<const Incoming> in,
                           const MessageOptions& options);
  [[nodiscard]] std::optional<Envelope> probe(std::uint32_t rank, std::uint32_t tag);
  [[nodiscard]] Envelope wait_for_message(std::uint32_t rank, std::uint32_t tag,
                                          const MessageOptions& options);

  /// Nothing that is under way will be done: the caller's memory is left alone from now on.
  void end(const Error& cause);

 private:
  class Batch;
  class Settling;

  [[nodiscard]] bool is_alarmed() const override { return host_.is_alarmed(); }
  void check(const Message& message, Clock::duration waited) override;
  [[nodiscard]] bool has_ended(std::uint32_t rank) const override { return host_.has_ended(rank); }
  [[nodiscard]] bool has_stood_down(std::uint32_t rank) const override {
    return host_.has_stood_down(rank);
  }
  void note_failure(std::shared_ptr<Message> message, std::exception_ptr cause) override;

  [[nodiscard]] std::vector<std::shared_ptr<Message>> make(std::span<const Outgoing> out,
                                                           std::span<const Incoming> in,
                                                           const MessageOptions& options) const;
  void check_arguments(std::span<const Outgoing> out, std::span<const Incoming> in) const;
  [[nodiscard]] Error settled(const Message& message, const std::exception_ptr& cause);
  [[nodiscard]] std::string words(const Message& message) const;
  [[nodiscard]] Clock::time_point deadline_of(const MessageOptions& options) const;
  /// Of one send, one receive or one of each there is one record, of more there is one for each.
  struct Flight {
    FlightRecorder::Handle first{};
    std::vector<FlightRecorder::Handle> more{};
  };
  [[nodiscard]] Flight record(std::span<const Outgoing> out, std::span<const Incoming> in,
                              std::string_view site);
  void record_end(const Flight& flight, bool is_well);

  Messenger& messenger_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  MessageHost& host_;
  std::shared_ptr<Inbox> inbox_;
  std::mutex ending_;
  std::condition_variable settled_;
  std::size_t settling_ = 0;  // Failures whose verdict is awaited.
  bool has_ended_ = false;
  bool is_closed_ = false;  // And nothing that is under way touches the caller's memory.
  std::mutex recording_;
  FlightRecorder& recorder_;
  std::uint64_t messages_ = 0;
};

}  // namespace tutti
