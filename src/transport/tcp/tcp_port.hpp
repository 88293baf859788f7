#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/tcp/stream.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace tutti {

/// One communicator over TCP: one stream of each connection that it needs.
///
/// send() takes as much as the stream's credit allows. What does not fit into the socket's buffer
/// is written by later calls of any port. Memory is released when the system has taken the bytes,
/// not when they have arrived.
class TcpPort final : public Port, private StreamListener {
 public:
  /// The transport must outlive this.
  TcpPort(TcpTransport& transport, const Membership& membership);
  ~TcpPort() override;
  TcpPort(const TcpPort&) = delete;
  TcpPort& operator=(const TcpPort&) = delete;

  void begin(std::uint32_t sent, std::uint32_t received) override {
    sent_call_ = sent;
    received_call_ = received;
  }
  [[nodiscard]] std::span<const std::byte> arrived(Rank peer) override;
  void consume(Rank peer, std::size_t bytes) override;
  [[nodiscard]] std::size_t receive(Rank peer, std::span<std::byte> to) override;
  void expect(Rank peer, std::span<std::byte> to) override;
  /// Requires: one peer.
  [[nodiscard]] std::size_t send(std::span<const Rank> peers,
                                 std::span<const std::byte> data) override;
  [[nodiscard]] bool is_reached(Rank peer) override;
  [[nodiscard]] bool may_deliver(Rank peer) override;
  [[nodiscard]] std::uint32_t lane(Rank peer) const override { return peer.index(); }
  [[nodiscard]] std::uint64_t released(Rank peer) override;
  [[nodiscard]] std::uint64_t sent(Rank peer) const override;
  void copy_unreleased(Rank peer) override;
  /// Closes its streams.
  void abandon() override;
  void stand_down() override;
  void look() override;
  void interrupt() override { notify(); }
  /// Writes pending data and makes connections. If a peer cannot be reached by the deadline, the
  /// next call that needs it throws peer_lost, or timed_out if the peer should have connected.
  [[nodiscard]] bool goes_on(Clock::time_point deadline) override;
  [[nodiscard]] bool stay_awake(std::uint32_t idle) override;
  void lie_down(WokenBy by) override;
  void sleep(Clock::time_point deadline) override;

 private:
  struct Peer {
    std::uint32_t member = 0;
    TcpTransport::Line* line = nullptr;
    std::shared_ptr<Stream> stream;
    bool is_missing = false;       // Needed and not yet connected.
    std::optional<Error> failure;  // Why it cannot be connected.
    bool is_pending = false;       // In pending_.
    std::uint64_t dry_look = 0;    // The value of looks_ when it was found dry,
    std::uint64_t dry_at = 0;      // and of the connection's arrivals.
    std::uint32_t passed_by = 0;   // How often it was not polled since.
    std::uint64_t full_since = 0;  // The value of news_ when there was no room to write.
  };

  void notify() override;
  [[nodiscard]] Peer* reach(Rank peer);
  void attach(Peer& peer, TcpTransport::Line& line);
  bool attach_connected();
  [[nodiscard]] bool is_dry(Peer& peer) const;
  void note_dry(Peer& peer, std::uint64_t arrivals);
  [[nodiscard]] bool pump(Peer& peer);
  bool flush(Rank peer);
  void note_pending(Rank peer);
  [[nodiscard]] std::string name(Rank rank) const;
  /// Calls f, and puts the peer's name before the message of an error.
  template <class F>
  auto naming(Rank peer, F&& f);

  TcpTransport& transport_;
  std::uint64_t context_;
  Rank self_;
  Patience patience_;
  std::uint32_t sent_call_ = 0;
  std::uint32_t received_call_ = 0;
  const std::vector<std::uint32_t> members_;
  std::vector<Peer> peers_;
  std::vector<Rank> missing_;
  std::vector<Rank> pending_;  // Peers with data still to be written.
  bool is_abandoned_ = false;
  std::atomic<bool> has_stood_down_{false};
  std::uint64_t looks_ = 1;  // Counts rounds of polling all connections.
  std::size_t dry_ = 0;      // How many were dry in this round.
  std::uint64_t news_ = 1;   // Counts events that may have made room to write.
  std::atomic<bool> is_notified_{false};
  std::uint64_t news_before_ = 0;  // The transport's event count when this went to sleep.
};

}  // namespace tutti
