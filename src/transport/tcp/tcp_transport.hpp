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

#include "net/contact.hpp"
#include "net/dial.hpp"
#include "net/handshake.hpp"
#include "net/reception.hpp"
#include "net/watch.hpp"
#include "transport/memory/doorbells.hpp"
#include "transport/patience.hpp"
#include "transport/tcp/connection.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// Between members of a fabric over TCP: one connection for each pair, made when one of them first
/// has to do with the other, for all communicators that both are in. The lower member dials; a
/// higher one that waits in vain for that dials to ask for it.
///
/// Thread-safe; each port is for one thread at a time.
class TcpTransport final : public Transport {
 public:
  struct Setting {
    std::uint32_t self = 0;
    std::vector<Contact> contacts{};  ///< By member.
    Socket listener{};
    Secret secret{};
    std::string group{};  ///< A connection for another one is refused.
    Patience patience{};
    /// What wakes its ports besides; may be null.
    std::shared_ptr<Doorbells> doorbells{};
  };

  /// Throws invalid_argument if the group's name is too long to say in a greeting.
  explicit TcpTransport(Setting setting);
  /// Waits a while until all that was sent is under way.
  ~TcpTransport() override;
  TcpTransport(const TcpTransport&) = delete;
  TcpTransport& operator=(const TcpTransport&) = delete;

  [[nodiscard]] std::uint64_t offer(const Membership& /*membership*/) override { return 0; }
  [[nodiscard]] std::unique_ptr<Port> open(const Membership& membership,
                                           std::span<const std::uint64_t> offers) override;

  /// How many members are connected.
  [[nodiscard]] std::size_t connections() const;

  // For its ports ------------------------------------------------------------------------------

  /// A connection, and how often something was heard of it.
  struct Line {
    Line(std::uint32_t other, Channel channel) : member(other), connection(std::move(channel)) {}
    std::uint32_t member;
    Connection connection;
    /// Something may have come over the connection since this was last another number.
    std::atomic<std::uint64_t> arrivals{1};
    std::atomic<bool> is_room_watched{false};
  };

  /// The connection to a member for a communicator; null if there is none yet, and then it is made.
  /// One that has ended is replaced, unless it holds data for that communicator; those who have the
  /// old one keep it.
  [[nodiscard]] Line* reach(std::uint32_t member, std::uint64_t context);
  [[nodiscard]] bool is_connected(std::uint32_t member) const {
    return lines_[member].load(std::memory_order_acquire) != nullptr;
  }
  /// Goes on with what makes connections, as far as time alone makes a difference. Errors call this
  /// member `self`.
  void tend(const std::string& self);
  /// Why a member that is needed will not be reached, or has not been by the deadline, as an error
  /// that calls it `name`.
  [[nodiscard]] bool is_hopeless(std::uint32_t member) const;
  [[nodiscard]] Error failure_to_reach(std::uint32_t member, const std::string& name,
                                       const std::string& self) const;

  /// Takes note of what is new, without waiting. False if nothing is.
  bool look();
  /// How often something was new.
  [[nodiscard]] std::uint64_t news() const { return news_.load(std::memory_order_seq_cst); }
  /// Tells from now on when there is room to write to a member.
  void watch_room(std::uint32_t member);
  /// Sleeps until something is new, `is_awake` says so, or the time is over.
  void sleep(const std::function<bool()>& is_awake, Clock::time_point until);
  /// Lets everyone who sleeps look whether it is awake.
  void wake();
  [[nodiscard]] bool has_sleepers() const { return sleepers_.load(std::memory_order_seq_cst) > 0; }

  [[nodiscard]] const Setting& setting() const { return setting_; }
  /// "rank 3 on somehost", of a rank that is this member.
  [[nodiscard]] std::string name(Rank rank, std::uint32_t member) const;

 private:
  struct Member {
    std::unique_ptr<Line> line;
    std::unique_ptr<Dial> dial;
    bool is_missing = false;  // Needed and not yet connected.
    Clock::time_point missing_since{};
  };

  // With setup_ held:
  void miss(std::uint32_t member);
  void dial(std::uint32_t member);
  void connect(std::uint32_t member, Channel channel);
  void drop(Member& member);
  void advance(std::uint32_t member, Clock::time_point now);
  [[nodiscard]] Clock::time_point next_due(Clock::time_point until);

  void handle(Watch::Tag tag);
  [[nodiscard]] bool look(std::chrono::milliseconds timeout, bool is_watcher);
  void say_farewell();

  Setting setting_;
  Watch watch_;
  mutable std::mutex setup_;  // For what makes connections.
  Reception reception_;
  std::vector<Member> members_;
  std::vector<std::unique_ptr<Line>> ended_;  // Ports may still have them.
  std::vector<std::uint32_t> missing_;
  std::vector<std::atomic<Line*>> lines_;  // Those of members_, to be read without a lock.
  std::atomic<std::size_t> missing_count_{0};

  int bell_ = -1;  // An eventfd, which wakes the one who sleeps on the watch.
  std::atomic<std::uint64_t> news_{0};
  std::mutex waiting_;
  std::condition_variable woken_;
  std::atomic<std::uint32_t> sleepers_{0};
  bool has_watcher_ = false;  // One of them sleeps on the watch, for all.
};

}  // namespace tutti
