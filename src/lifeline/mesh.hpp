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
#include "net/channel.hpp"
#include "net/contact.hpp"
#include "net/dial.hpp"
#include "net/handshake.hpp"
#include "net/reception.hpp"
#include "net/watch.hpp"
#include "rendezvous/framed_channel.hpp"

namespace tutti {

/// Control messages between processes: a TCP or Unix connection for each pair, served by a thread
/// that sleeps while nothing happens.
///
/// The kernel closes a connection when the process at the other end exits or is killed. For a
/// process on the same host a pidfd tells the same, in case a child has inherited the connection. A
/// host that disappears is found by keep-alive probes after Place::lost_after.
class Mesh final : public ControlTransport {
 public:
  struct Place {
    std::uint32_t self = 0;
    std::vector<Contact> contacts{};  ///< By member.
    Socket listener{};
    Secret secret{};
    std::string group{};
    std::vector<int> processes{};  ///< By member: its pid if it runs on this host, else 0.
    std::chrono::milliseconds lost_after{10000};  ///< As in set_keep_alive().
  };

  /// Connects to all members and delivers their messages to `lifeline`, which must outlive this.
  /// Throws timed_out that names the members not connected by the deadline; and unsupported,
  /// sooner, if this process lacks descriptors for the connections.
  Mesh(Place place, Lifeline& lifeline, Clock::time_point deadline);
  /// Sends the messages that are queued, for 500 ms at most.
  ~Mesh() override;
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  void send(std::uint32_t to, std::string message) override;
  void request_ticks() override;

 private:
  struct Member {
    std::unique_ptr<Dial> dial{};
    std::unique_ptr<FramedChannel> channel{};
    int process = -1;  // Its pidfd; -1 if there is none.
    bool is_lost = false;
  };
  struct Outgoing {
    std::uint32_t to;
    std::string message;
  };

  void run();
  void wake();
  void send_queued();
  void handle(Watch::Tag tag);
  void dial(std::uint32_t member);
  void adopt(std::uint32_t member, Channel channel);
  void watch_process(std::uint32_t member);
  void serve(std::uint32_t member);
  void lose(std::uint32_t member, const std::string& why);
  void await_all(Clock::time_point deadline);
  [[nodiscard]] bool has_unsent() const;
  [[nodiscard]] bool is_short_of_descriptors(Clock::time_point now) const;
  [[nodiscard]] std::chrono::milliseconds wait_time(bool soon) const;

  Place place_;
  Lifeline& lifeline_;
  Watch watch_;
  Reception reception_;
  std::vector<Member> members_;
  int wakeup_ = -1;  // An eventfd.

  std::mutex mutex_;  // For what follows.
  std::condition_variable complete_;
  std::deque<Outgoing> queue_;
  bool ticks_ = false;
  bool ends_ = false;
  std::vector<bool> is_connected_;  // By member.
  bool is_short_ = false;           // Of descriptors, for long.
  std::thread thread_;
};

}  // namespace tutti
