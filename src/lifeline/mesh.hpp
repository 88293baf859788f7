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

/// Letters between processes: a connection from each to each, served by a thread that sleeps as
/// long as nothing happens. The system ends a connection when the process at its other end ends, in
/// whatever way, and says so; of one on the same host it also tells by a descriptor of the process,
/// in case a child has inherited the connection. Of a host that has vanished, the system finds out
/// by itself in the time that is set.
class Mesh final : public ControlTransport {
 public:
  struct Place {
    std::uint32_t self = 0;
    std::vector<Contact> contacts{};  ///< By member.
    Socket listener{};
    Secret secret{};
    std::string group{};
    std::vector<int> processes{};  ///< By member: its process, if that is on this host, or 0.
    std::chrono::milliseconds lost_after{10000};  ///< Of a host that says nothing any more.
  };

  /// Connects to all, and hands what they write to `lifeline`, which must outlive this. Throws
  /// timed_out that names who has not come by the deadline, and unsupported, sooner, if this
  /// process has no descriptors for their connections.
  Mesh(Place place, Lifeline& lifeline, Clock::time_point deadline);
  /// Sends what is still to be sent, unless that takes long.
  ~Mesh() override;
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  void send(std::uint32_t to, std::string letter) override;
  void hurry() override;

 private:
  struct Member {
    std::unique_ptr<Dial> dial{};
    std::unique_ptr<FramedChannel> courier{};
    int process = -1;  // A descriptor of its process; -1 if there is none.
    bool is_lost = false;
  };
  struct Mail {
    std::uint32_t to;
    std::string letter;
  };

  void run();
  void ring();
  void take_mail();
  void handle(Watch::Tag tag);
  void dial(std::uint32_t member);
  void seat(std::uint32_t member, Channel channel);
  void watch_process(std::uint32_t member);
  void serve(std::uint32_t member);
  void lose(std::uint32_t member, const std::string& why);
  void await_all(Clock::time_point deadline);
  [[nodiscard]] bool has_unsent() const;
  [[nodiscard]] bool is_short_of_descriptors(Clock::time_point now) const;
  [[nodiscard]] std::chrono::milliseconds nap(bool soon) const;

  Place place_;
  Lifeline& lifeline_;
  Watch watch_;
  Reception reception_;
  std::vector<Member> members_;
  int bell_ = -1;

  std::mutex mutex_;  // For what follows.
  std::condition_variable complete_;
  std::deque<Mail> mail_;
  bool hurries_ = false;
  bool ends_ = false;
  std::vector<bool> is_here_;
  bool is_short_ = false;  // Of descriptors, for long.
  std::thread thread_;
};

}  // namespace tutti
