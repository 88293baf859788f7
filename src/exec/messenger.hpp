#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "exec/inbox.hpp"
#include "exec/message.hpp"
#include "exec/packet.hpp"
#include "transport/port.hpp"

namespace tutti {

/// Sends and receives of one member of a fabric, for all its communicators: each message goes on by
/// itself, whatever others wait for.
///
/// A short message is sent unasked, and kept at the receiver until it is wanted; of those a
/// receiver keeps at most a budget for each sender and communicator. Of a long message, and of a
/// short one beyond the budget, the sender first tells the receiver, which asks for the data when a
/// receive matches. So what nobody receives takes bounded memory and is in nobody's way.
///
/// There is one port, for one thread at a time: whoever waits for a message moves all messages on,
/// and the others who wait meanwhile are told. If messages are under way and nobody waits, a thread
/// of the pool looks after them.
class Messenger {
 public:
  struct Setting {
    std::uint32_t self = 0;
    std::uint32_t members = 1;
    /// Up to so many bytes are sent unasked.
    std::size_t most_eager = 8192;
    /// How many bytes of what was sent unasked a receiver keeps for each sender and communicator.
    std::uint64_t budget = std::uint64_t{256} << 10;
  };

  /// The port is for all members, in their order, and for nothing else.
  Messenger(std::unique_ptr<Port> port, Setting setting);
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  /// For the messages of a communicator. The owner must outlive it.
  [[nodiscard]] std::shared_ptr<Inbox> open(const Membership& membership, MessageOwner& owner);
  /// What is under way ends here, without being done: the caller ends it by fail(). Afterwards
  /// nobody reads or writes the caller's memory; a receiver that hangs is waited for `patience` at
  /// most.
  [[nodiscard]] std::vector<std::shared_ptr<Message>> close(Inbox& inbox,
                                                            std::chrono::milliseconds patience);
  /// Waits until everything is done that was begun: what is sent until its deadline, what is
  /// received for `patience` at most; and no longer than the owner's alarm allows.
  void finish(Inbox& inbox, std::chrono::milliseconds patience);

  /// Begins messages, in their order. Never waits. Those that the caller does not wait for at once
  /// go on by themselves. Throws aborted if the inbox was closed.
  void start(const std::shared_ptr<Inbox>& inbox,
             std::span<const std::shared_ptr<Message>> messages, bool is_waited_for);
  /// Waits until it is done, well or not. Throws what the owner's alarm throws, and timed_out at
  /// the deadline of the message; then it is not done.
  void wait(Inbox& inbox, Message& message);
  /// Waits until it is done or the time is over. Whether it is done.
  [[nodiscard]] bool wait_until(Inbox& inbox, Message& message, Clock::time_point until);
  /// Ends a message that is not done with this error.
  void fail(Message& message, std::exception_ptr cause);

  /// A message that a receive would take now, if one is here.
  [[nodiscard]] std::optional<Envelope> probe(Inbox& inbox, std::uint32_t rank, std::uint32_t tag);
  /// Waits for one. Throws as wait() does.
  [[nodiscard]] Envelope wait_for_message(Inbox& inbox, std::uint32_t rank, std::uint32_t tag,
                                          Clock::time_point deadline);

  /// Lets whoever sleeps look at its alarm. Any thread may call it, whatever it has locked.
  void interrupt() { port_->interrupt(); }

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// Bytes on their way to a peer.
  struct Outbound {
    Packet packet{};
    std::vector<std::byte> own{};          // The packet and its data, where they are sent as one.
    std::span<const std::byte> head{};     // What goes first,
    std::span<const std::byte> payload{};  // and then, of the caller's memory.
    std::size_t gone = 0;                  // Of both together.
    bool may_lend = false;   // The receiver waits for the data, and may read it there.
    bool completes = false;  // With it the message is done.
    std::shared_ptr<Message> message{};
    std::uint64_t end = 0;  // In the stream, once all of it has gone.
  };
  /// What is known of another member.
  struct Peer {
    std::deque<std::unique_ptr<Outbound>> out{};
    std::deque<std::unique_ptr<Outbound>> unreleased{};  // Gone, and perhaps still being read.
    std::deque<std::shared_ptr<Message>> transfers{};    // Whose data the peer waits for.
    std::unordered_map<std::uint64_t, std::shared_ptr<Message>> awaited{};  // By the peer's id.
    bool is_wanted = false;  // Something is to be sent to it, or was asked of it.
    bool is_lost = false;    // The way to it is broken.

    // Of what is coming:
    std::size_t left = 0;     // Of the data that follows the last packet.
    std::byte* to = nullptr;  // Null: nobody wants it.
    Packet packet{};
    std::shared_ptr<Message> receive{};
    Inbox::Arrival arrival{};
    std::shared_ptr<Inbox> inbox{};
  };

  // With the mutex held:
  [[nodiscard]] bool pass();
  [[nodiscard]] bool pump_in(std::uint32_t member);
  [[nodiscard]] bool pump_out(std::uint32_t member);
  [[nodiscard]] bool push(std::uint32_t member, Outbound& outbound);
  [[nodiscard]] bool release(std::uint32_t member);
  void open_packet(std::uint32_t member);
  void take_eager(std::uint32_t member, const std::shared_ptr<Inbox>& inbox);
  void take_request(std::uint32_t member, const std::shared_ptr<Inbox>& inbox);
  void take_ready(std::uint32_t member);
  void take_data(std::uint32_t member);
  void take_credit(std::uint32_t member, const std::shared_ptr<Inbox>& inbox);
  void close_packet(std::uint32_t member);
  [[nodiscard]] std::shared_ptr<Inbox> inbox_of(std::uint64_t context) const;
  [[nodiscard]] bool is_closed(std::uint64_t context) const;
  void keep_early(std::uint32_t member, Inbox::Arrival arrival);
  void add_packet(std::uint32_t member, const Packet& packet);

  void post_receive(Inbox& inbox, const std::shared_ptr<Message>& receive);
  void begin_send(Inbox& inbox, const std::shared_ptr<Message>& send);
  void send_to_self(Inbox& inbox, const std::shared_ptr<Message>& send);
  [[nodiscard]] bool launch(Inbox& inbox, const std::shared_ptr<Message>& send);
  void launch_waiting(Inbox& inbox, std::uint32_t rank);
  void add_eager(Inbox& inbox, const std::shared_ptr<Message>& send);
  void accept(Inbox& inbox, const std::shared_ptr<Message>& receive, std::uint32_t rank,
              std::uint32_t tag, std::uint64_t id, std::uint64_t bytes);
  void deliver(Inbox& inbox, const std::shared_ptr<Message>& receive,
               const Inbox::Unexpected& arrival);
  void note_taken(Inbox& inbox, std::uint32_t rank, std::uint64_t bytes);
  [[nodiscard]] bool fits(Inbox& inbox, Message& receive, std::uint32_t rank, std::uint32_t tag,
                          std::uint64_t bytes);
  void finish(Message& message);
  void finish(Message& message, std::exception_ptr failure);
  void refuse(Message& receive, std::exception_ptr cause);
  void forget(Message& message);
  void lose(std::uint32_t member, const std::exception_ptr& cause);
  void add_data(std::uint32_t member);
  [[nodiscard]] bool is_lending(const Inbox& inbox);

  /// Moves everything on until `is_over` says so or the time has come. Whether it says so.
  template <class F>
  bool progress(Lock& lock, Inbox& inbox, Clock::time_point until, const Message& about,
                F&& is_over);
  class Tender;
  [[nodiscard]] bool is_tending_needed() const;
  void tend();
  void lead_for_all(Lock& lock);
  void end_hopeless(Lock& lock);
  void need_tending();
  void report_failures(Lock& lock);

  std::unique_ptr<Port> port_;
  Setting setting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Peer> peers_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Inbox>> inboxes_;
  std::deque<std::uint64_t> closed_;  // Contexts, lately.
  /// Messages for communicators that this member has not made yet; their ranks are members.
  std::unordered_map<std::uint64_t, std::list<Inbox::Arrival>> early_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Message>> requests_;  // Own sends, by id.
  std::uint64_t last_id_ = 0;
  std::list<std::shared_ptr<Message>> running_;  // Started, and not done.
  struct Failure {
    std::shared_ptr<Message> message;
    std::exception_ptr cause;
  };
  std::vector<Failure>
      failures_;  // Of messages that nobody waits for: their owners are to be told.

  std::uint32_t waiting_ = 0;  // Threads that wait for messages.
  bool has_leader_ = false;    // One of them, or the tender, has the port.
  bool is_tended_ = false;     // A thread of the pool is there, and
  bool tender_leads_ = false;  // it is the one that has the port.
  bool is_closing_ = false;
  /// What still comes for communicators that have failed is taken until then, though nobody waits
  /// for it: its sender lends memory, and has it back only then.
  Clock::time_point drains_until_{};
};

}  // namespace tutti
