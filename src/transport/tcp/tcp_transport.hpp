#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tutti/error.hpp>

#include "net/acceptor.hpp"
#include "net/contact.hpp"
#include "net/dial.hpp"
#include "net/handshake.hpp"
#include "net/watch.hpp"
#include "transport/memory/doorbells.hpp"
#include "transport/patience.hpp"
#include "transport/tcp/connection.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// The transport between members of a fabric over TCP. There is one connection per pair of members,
/// opened on first use and shared by all their communicators. The lower member dials. If the higher
/// member needs a connection first, it dials only to ask the lower one to dial.
///
/// Thread-safe; each port is for one thread at a time.
class TcpTransport final : public Transport {
 public:
  struct Setting {
    std::uint32_t self = 0;
    std::vector<Contact> contacts{};  ///< By member.
    Socket listener{};
    Secret secret{};
    std::string group{};  ///< Connections that name another group are refused.
    Patience patience{};
    /// Also wakes its ports; may be null.
    std::shared_ptr<Doorbells> doorbells{};
    /// As in TransportRequest. For data of a communicator that has failed, the wait is at most 2 s.
    Clock::duration closing_timeout = std::chrono::seconds(2);
    /// True if the process of a member has ended; may be null.
    std::function<bool(std::uint32_t member)> has_ended{};
  };

  /// Throws invalid_argument if the group's name does not fit in a greeting.
  explicit TcpTransport(Setting setting);
  /// Waits, for a bounded time, until all data has been sent: its receivers may be late.
  ~TcpTransport() override;
  TcpTransport(const TcpTransport&) = delete;
  TcpTransport& operator=(const TcpTransport&) = delete;

  /// Connections that have ended here end for the peers too, before any rank opens its port: all
  /// ranks of a new communicator replace the same connections.
  [[nodiscard]] std::uint64_t offer(const Membership& membership) override;
  [[nodiscard]] std::unique_ptr<Port> open(const Membership& membership,
                                           std::span<const std::uint64_t> offers) override;

  /// Number of connected members.
  [[nodiscard]] std::size_t connections() const;

  // For its ports ------------------------------------------------------------------------------

  /// A connection and its event counter.
  struct Line {
    Line(std::uint32_t other, Channel channel) : member(other), connection(std::move(channel)) {}
    std::uint32_t member;
    Connection connection;
    /// Incremented on every event: if it has changed, data may have arrived.
    std::atomic<std::uint64_t> arrivals{1};
    std::atomic<bool> is_room_watched{false};
    /// A communicator of this member has failed, and no other one has sent data since: the member
    /// may hang and never take what is still to be sent.
    std::atomic<bool> is_doubtful{false};

    void note_data() {
      if (is_doubtful.load(std::memory_order_relaxed)) is_doubtful.store(false);
    }
  };

  /// The connection to a member for a communicator. Null if there is none yet; then it starts to
  /// connect. A connection that has ended is replaced, unless it holds data for that communicator.
  /// Ports that use the old one keep it.
  [[nodiscard]] Line* reach(std::uint32_t member, std::uint64_t context);
  [[nodiscard]] bool is_connected(std::uint32_t member) const {
    return lines_[member].load(std::memory_order_acquire) != nullptr;
  }
  /// True if a member is connected, or may have opened a connection that is not accepted yet.
  [[nodiscard]] bool may_connect(std::uint32_t member);
  /// True if a member is needed and not connected.
  [[nodiscard]] bool has_missing() const {
    return missing_count_.load(std::memory_order_acquire) > 0;
  }
  /// Handles what depends on time in connecting: retries and timeouts. Errors call this member
  /// `self`.
  void tend(const std::string& self);
  /// True if retrying to reach a member cannot help.
  [[nodiscard]] bool is_hopeless(std::uint32_t member) const;
  /// The error for a member, called `name`, that cannot be reached or was not by the deadline.
  [[nodiscard]] Error failure_to_reach(std::uint32_t member, const std::string& name,
                                       const std::string& self) const;

  /// Polls for events without waiting. False if there were none.
  bool notice_arrivals();
  /// Counts the polls that found events.
  [[nodiscard]] std::uint64_t news() const { return news_.load(std::memory_order_seq_cst); }
  /// From now on, also reports when the connection to a member becomes writable.
  void watch_room(std::uint32_t member);
  /// Sleeps until there are events, `is_awake` returns true, or the time is over.
  void sleep(const std::function<bool()>& is_awake, Clock::time_point until);
  /// Makes all sleeping threads check their `is_awake`.
  void wake();
  [[nodiscard]] bool has_sleepers() const { return sleepers_.load(std::memory_order_seq_cst) > 0; }

  /// A communicator of these members has failed: some may hang that are to take data.
  void note_failure(std::span<const std::uint32_t> members);

  [[nodiscard]] const Setting& setting() const { return setting_; }
  /// "rank 3 on somehost", for a rank that is this member.
  [[nodiscard]] std::string name(Rank rank, std::uint32_t member) const;

 private:
  struct Member {
    std::unique_ptr<Line> line;
    std::unique_ptr<Dial> dial;
    bool is_missing = false;  // Needed but not connected yet.
    Clock::time_point missing_since{};
    std::uint64_t refusals_before = 0;  // Final ones by the acceptor, when it became missing.
  };

  // With setup_ held:
  void miss(std::uint32_t member);
  void dial(std::uint32_t member);
  void connect(std::uint32_t member, Channel channel);
  void drop(Member& member);
  void end(std::uint32_t member);
  void advance(std::uint32_t member, Clock::time_point now);
  [[nodiscard]] Clock::time_point next_due(Clock::time_point until);
  [[nodiscard]] bool gives_up(const Member& member, Clock::time_point now) const;

  void handle(Watch::Tag tag);
  [[nodiscard]] bool look(std::chrono::milliseconds timeout, bool is_watcher);
  void say_farewell();

  Setting setting_;
  Watch watch_;
  mutable std::mutex setup_;  // Guards connection setup.
  Acceptor acceptor_;
  std::vector<Member> members_;
  std::vector<std::unique_ptr<Line>> ended_;  // Closed connections that ports may still use.
  std::vector<std::uint32_t> missing_;
  std::vector<std::atomic<Line*>> lines_;  // The lines of members_, for reading without a lock.
  std::atomic<std::size_t> missing_count_{0};

  int bell_ = -1;  // An eventfd that wakes the thread that sleeps on the watch.
  std::atomic<std::uint64_t> news_{0};
  std::mutex waiting_;
  std::condition_variable woken_;
  std::atomic<std::uint32_t> sleepers_{0};
  bool has_watcher_ = false;  // One of the sleepers polls the watch for all.
};

}  // namespace tutti
