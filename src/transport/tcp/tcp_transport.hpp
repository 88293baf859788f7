#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/patience.hpp"
#include "transport/tcp/connection.hpp"
#include "transport/tcp/contact.hpp"
#include "transport/tcp/dial.hpp"
#include "transport/tcp/handshake.hpp"
#include "transport/tcp/reception.hpp"
#include "transport/tcp/watch.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// Bytes between ranks over TCP: one connection for each pair, made when one of them first has to
/// do with the other. The lower rank dials, the higher one listens.
///
/// send() takes a piece whole; what the system has no room for is written by later calls, of any
/// kind. So memory is released when the system has taken the bytes, not when they have arrived.
class TcpTransport final : public Transport {
 public:
  /// Contacts are by rank; a connection for another `group` is refused. Rank 0 needs no listener.
  /// Throws invalid_argument if the group's name is too long to say in a greeting.
  TcpTransport(Rank self, std::vector<Contact> contacts, Socket listener, Secret secret,
               std::string group, Patience patience);
  /// Waits a while until all that was sent is under way.
  ~TcpTransport() override;
  TcpTransport(const TcpTransport&) = delete;
  TcpTransport& operator=(const TcpTransport&) = delete;

  void begin(std::uint32_t sent, std::uint32_t received) override {
    sent_call_ = sent;
    received_call_ = received;
  }
  [[nodiscard]] std::span<const std::byte> arrived(Rank peer) override;
  void consume(Rank peer, std::size_t bytes) override;
  [[nodiscard]] std::size_t receive(Rank peer, std::span<std::byte> to) override;
  /// Requires: one peer.
  [[nodiscard]] std::size_t send(std::span<const Rank> peers,
                                 std::span<const std::byte> data) override;
  [[nodiscard]] std::uint32_t lane(Rank peer) const override { return peer.index(); }
  [[nodiscard]] std::uint64_t released(Rank peer) override;
  [[nodiscard]] std::uint64_t sent(Rank peer) const override;
  /// Throws peer_lost at the deadline if a peer that is needed cannot be reached, and timed_out if
  /// it has not called.
  bool wait(std::uint32_t idle, Clock::time_point deadline) override;

  /// For who sleeps on other things too: readable when something may have changed since arm() was
  /// last called and answered true. After false, look again before sleeping.
  [[nodiscard]] int poll_fd() const { return watch_.fd(); }
  [[nodiscard]] bool arm(Clock::time_point deadline);

  /// After a call that failed: forgets what was still to be sent, since its memory may be gone, and
  /// closes all connections, by which the peers learn of it.
  void abandon() override;

  /// How many peers are connected.
  [[nodiscard]] std::size_t connections() const;

 private:
  struct Peer {
    std::unique_ptr<Connection> connection;
    std::unique_ptr<Dial> dial;
    bool is_missing = false;       // Needed and not yet connected.
    bool is_watched = false;       // What comes over the connection is news,
    bool is_room_watched = false;  // and so is room to write.
    bool is_pending = false;       // In pending_.
    std::uint64_t dry_since = 0;   // The look at which nothing more had come.
    std::uint32_t passed_by = 0;   // How often it was not looked at since.
    std::uint64_t full_since = 0;  // The news after which there was no room to write.
  };

  [[nodiscard]] Connection* reach(Rank peer);
  void miss(Rank peer);
  void open(std::uint32_t rank, Channel channel);

  [[nodiscard]] bool is_dry(Peer& peer) const;
  void note_dry(Peer& peer);
  bool flush(Rank peer);
  [[nodiscard]] bool goes_on(Clock::time_point deadline);

  void tend(Clock::time_point deadline);
  [[noreturn]] void give_up(Rank peer) const;
  void advance(Rank peer, Clock::time_point now);
  void sleep(Clock::time_point deadline);
  bool look(std::chrono::milliseconds timeout);
  void watch_connections();
  void watch_room();
  void handle(Watch::Tag tag);
  [[nodiscard]] std::chrono::milliseconds nap(Clock::time_point deadline) const;
  void say_farewell();
  [[nodiscard]] std::string name(Rank rank) const;

  Rank self_;
  std::vector<Contact> contacts_;
  Secret secret_;
  std::string group_;
  Patience patience_;
  std::uint32_t sent_call_ = 0;
  std::uint32_t received_call_ = 0;
  Watch watch_;
  Reception reception_;
  std::vector<Peer> peers_;
  std::vector<Rank> missing_;
  std::vector<Rank> unwatched_;  // Connected since the last look().
  std::vector<Rank> pending_;    // To whom something is still to be written.
  std::uint64_t looks_ = 1;      // How often all connections were looked at anew.
  std::size_t dry_ = 0;          // How many were dry since.
  std::uint64_t news_ = 1;       // How often something changed that may have made room to write.
};

}  // namespace tutti
