#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lifeline/lifeline.hpp"
#include "lifeline/neighbours.hpp"
#include "net/acceptor.hpp"
#include "net/channel.hpp"
#include "net/contact.hpp"
#include "net/dial.hpp"
#include "net/handshake.hpp"
#include "net/watch.hpp"
#include "rendezvous/framed_channel.hpp"

namespace tutti {

/// Control messages between processes, over TCP or Unix connections, served by a thread that sleeps
/// while nothing happens.
///
/// The kernel closes a connection when the process at the other end exits or is killed. For a
/// process on the same host a pidfd tells the same, in case a child has inherited the connection. A
/// host that disappears is found by keep-alive probes after Place::lost_after.
///
/// A member is connected to its neighbours (see neighbours_of()) from the start, and to another
/// member from the first message on. It tells its connections of every loss, and they theirs. A
/// member that hears of a loss in this way checks it: it takes the member for lost only if it
/// cannot connect to it either.
///
/// In the same way all members hear of one that departs, which waits until its connections have
/// repeated that to it. So a member that refuses a connection has departed, or its loss is reported
/// soon. Each member stays connected to the next one that is there, so that members that depart do
/// not cut the others off from each other.
class Mesh final : public ControlTransport {
 public:
  struct Place {
    std::uint32_t self = 0;
    std::vector<Contact> contacts{};  ///< By member.
    Socket listener{};
    Secret secret{};
    std::string group{};
    std::vector<int> processes{};  ///< By member: its pid if it runs on this host, else 0.
    std::chrono::milliseconds lost_after{10000};           ///< As in set_keep_alive().
    std::uint32_t fully_connected = most_fully_connected;  ///< As in neighbours_of().
  };

  /// Connects to its neighbours and delivers messages to `lifeline`, which must outlive this.
  /// Throws timed_out that names the neighbours not connected by the deadline; and sooner:
  /// unsupported if this process lacks descriptors for the connections, and mismatch if the secret
  /// or the TLS setting of a neighbour differs.
  Mesh(Place place, Lifeline& lifeline, Clock::time_point deadline);
  /// Sends the messages that are queued, for 500 ms at most.
  ~Mesh() override;
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  void send(std::uint32_t to, std::string message, Delivery delivery) override;
  void request_ticks() override;

  /// The number of members to which there is a connection.
  [[nodiscard]] std::size_t connections();

 private:
  struct Member {
    std::unique_ptr<Dial> dial{};
    /// The first one is for sending. There are two if both ends have dialled at the same time.
    std::vector<std::unique_ptr<FramedChannel>> channels{};
    std::vector<std::string> waiting{};     // Messages to be sent once it is connected.
    int process = -1;                       // Its pidfd; -1 if there is none.
    bool departs = false;                   // It ends in order.
    bool has_echoed = false;                // It has heard that this member departs.
    std::optional<std::string> farewell{};  // Of its lifeline, which has not heard it yet.
    bool is_reported = false;               // This member has told others that it is lost.
    bool is_lost = false;
    /// While there is no connection: then it is lost, and why.
    Clock::time_point lost_at = Clock::time_point::max();
    std::string why_lost{};
  };
  /// For a member that no message waits for: a neighbour at the start, for which await_neighbours()
  /// knows the deadline, and the next one that is there.
  static constexpr auto until_connected = std::chrono::hours(24);

  struct Outgoing {
    std::uint32_t to;
    std::string message;
    Delivery delivery;
  };

  void run();
  void wake();
  void send_queued();
  void handle(Watch::Tag tag);
  void need(std::uint32_t member, Clock::duration patience, const std::string& why_lost);
  void dial(std::uint32_t member);
  void adopt(std::uint32_t member, Channel channel);
  /// False if its process has ended already.
  [[nodiscard]] bool watch_process(std::uint32_t member);
  void serve(std::uint32_t member);
  [[nodiscard]] bool receive(std::uint32_t member, FramedChannel& channel);
  void lose(std::uint32_t member, const std::string& why);
  void report_loss(std::uint32_t member, const std::string& why);
  void hear_of_loss(const std::string& body);
  void lose_unreachable(std::uint32_t member, Clock::time_point now);
  void depart();
  void hear_of_departure(std::uint32_t from, const std::string& body);
  void take_farewell(std::uint32_t member);
  void take_farewells(Clock::time_point now);
  void stay_connected();
  [[nodiscard]] std::optional<std::uint32_t> next_present() const;
  [[nodiscard]] bool may_end() const;
  void send_to_connected(Frame::Kind kind, const std::string& body);
  /// All members are connected to each other from the start.
  [[nodiscard]] bool is_full() const { return neighbours_.size() + 1 == members_.size(); }
  void await_neighbours(Clock::time_point deadline);
  [[nodiscard]] bool has_unsent();
  [[nodiscard]] bool is_short_of_descriptors(Clock::time_point now) const;
  [[nodiscard]] std::string rejection(Clock::time_point now) const;
  [[nodiscard]] std::chrono::milliseconds wait_time(bool soon) const;

  Place place_;
  Lifeline& lifeline_;
  Watch watch_;
  Acceptor acceptor_;
  std::vector<std::uint32_t> neighbours_;
  std::vector<Member> members_;
  std::vector<std::string> departures_;  // What was heard of those that depart, or said.
  int wakeup_ = -1;                      // An eventfd.

  std::mutex mutex_;  // For what follows.
  std::condition_variable complete_;
  std::deque<Outgoing> queue_;
  bool ticks_ = false;
  bool ends_ = false;
  std::vector<bool> is_known_;  // By member: it has been connected, or is lost.
  std::size_t connections_ = 0;
  bool is_short_ = false;  // Of descriptors, for long.
  std::string rejection_;  // Which neighbour rejects this member for good, and why.
  std::thread thread_;
};

}  // namespace tutti
