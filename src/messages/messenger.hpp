#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "messages/message_protocol.hpp"
#include "transport/port.hpp"

namespace tutti {

/// Point-to-point messages of one member, for all its communicators and threads. The protocol is
/// MessageProtocol's; this adds the lock, waiting, and background progress.
///
/// The port is for one thread at a time. One of the threads that wait, the leader, progresses all
/// messages; the others sleep until it tells them that something changed. If messages are running
/// and no thread waits, a task of the thread pool leads.
class Messenger {
 public:
  using Setting = MessageProtocol::Setting;

  /// The port is for all members, in their order, and for nothing else.
  Messenger(std::unique_ptr<Port> port, Setting setting);
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  /// The inbox of a communicator. The owner must outlive it.
  [[nodiscard]] std::shared_ptr<Inbox> open(const Membership& membership, MessageOwner& owner);
  /// Ends all messages of a communicator without completing them, and returns them: the caller
  /// completes them with fail(). Afterwards no rank reads or writes the caller's memory, and the
  /// owner is no longer called. Waits at most `patience` for a receiver that hangs.
  [[nodiscard]] std::vector<std::shared_ptr<Message>> close(Inbox& inbox,
                                                            std::chrono::milliseconds patience);
  /// Waits until all started messages are done: sends until their deadline, receives for
  /// `patience` at most. Returns early if the owner's alarm says so.
  void finish(Inbox& inbox, std::chrono::milliseconds patience);

  /// Starts messages, in their order. Never waits. Unless `is_waited_for`, they progress in the
  /// background. Throws aborted if the inbox was closed.
  void start(const std::shared_ptr<Inbox>& inbox,
             std::span<const std::shared_ptr<Message>> messages, bool is_waited_for);
  /// Waits until the message is done, with or without an error. Throws what the owner's alarm
  /// throws, and timed_out at the message's deadline; then it is not done.
  void wait(Inbox& inbox, Message& message);
  /// Waits until the message is done or `until`. True if it is done.
  [[nodiscard]] bool wait_until(Inbox& inbox, Message& message, Clock::time_point until);
  /// Completes a message with this error, unless it is done.
  void fail(Message& message, std::exception_ptr cause);

  /// How many messages were sent to each rank and are done; and how many have arrived in full from
  /// a rank, received or not.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> sent(const Inbox& inbox);
  [[nodiscard]] std::uint64_t arrived(Inbox& inbox, std::uint32_t rank);

  /// The message that a receive would match now, if there is one.
  [[nodiscard]] std::optional<Envelope> probe(Inbox& inbox, std::uint32_t rank, std::uint32_t tag);
  /// Waits for one. Throws as wait() does.
  [[nodiscard]] Envelope wait_for_message(Inbox& inbox, std::uint32_t rank, std::uint32_t tag,
                                          Clock::time_point deadline);

  /// Wakes the leader, so that it checks its alarm. Any thread may call it, with any lock held.
  void interrupt() { port_->interrupt(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  class Background;

  // With the mutex held:
  /// Progresses all messages until `is_over` is true or `until`. Returns whether `is_over` is.
  template <class F>
  bool progress(Lock& lock, Inbox& inbox, Clock::time_point until, const Message& about,
                F&& is_over);
  /// Calls `f` with the inbox's owner, without the lock. close() waits for it.
  template <class F>
  void ask_owner(Lock& lock, Inbox& inbox, F&& f);
  /// Waits, without the lock, until something may have changed. Returns whether it has slept.
  bool wait_for_change(Lock& lock, std::uint32_t idle, Clock::time_point until);
  void start_background();
  [[nodiscard]] bool needs_background() const;
  void lead_in_background(Lock& lock);
  void fail_hopeless(Lock& lock);
  [[nodiscard]] bool has_found_all(Lock& lock);
  void report_failures(Lock& lock);

  void run_background();

  std::unique_ptr<Port> port_;
  std::mutex mutex_;
  std::condition_variable changed_;
  MessageProtocol protocol_;

  std::uint32_t waiting_ = 0;      // Threads that wait for messages.
  bool has_leader_ = false;        // One of them, or the background task, uses the port.
  bool has_background_ = false;    // The background task exists,
  bool background_leads_ = false;  // and is the leader.
  std::uint64_t fruitless_ = 0;    // Passes of leaders that moved nothing.
  bool is_closing_ = false;
  /// Until then the background task drains what still arrives for closed communicators: the
  /// memory of their senders is free again only when it was read.
  Clock::time_point drains_until_{};
};

}  // namespace tutti
