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
/// A post takes as much as the stream's credit allows. What does not fit into the socket's buffer
/// is written by later calls of any port. Memory is released when the system has taken the bytes,
/// not when they have arrived.
class TcpPort final : public Port, private StreamListener {
 public:
  /// The transport must outlive this.
  TcpPort(TcpTransport& transport, const Membership& membership);
  ~TcpPort() override;
  TcpPort(const TcpPort&) = delete;
  TcpPort& operator=(const TcpPort&) = delete;

  void begin(std::uint32_t tag, const Terms& /*terms*/) override { tag_ = tag; }
  /// Requires: one peer for each send.
  [[nodiscard]] Posted post(std::span<const Send> sends) override;
  /// What is sent is copied by the system.
  [[nodiscard]] Copies prepare(const Send& /*send*/, std::size_t /*reading*/, bool /*may_stage*/,
                               std::vector<std::byte*>& /*copies*/) override {
    return Copies::none;
  }
  [[nodiscard]] std::size_t unreleased(Rank peer) override;
  void copy_unreleased(Rank peer) override;
  [[nodiscard]] std::size_t poll(std::span<const Rank> peers, std::span<std::byte> into,
                                 const void** data, std::span<const Rank> next) override;
  void consume(std::span<const Rank> peers, std::size_t bytes) override;
  [[nodiscard]] bool may_arrive(Rank peer, bool has_ended) override;
  void revoke() override;
  [[nodiscard]] bool has_revoked(Rank /*peer*/) const override { return false; }
  [[nodiscard]] bool is_exposed(const std::function<bool(Rank)>& /*is_gone*/) override {
    return false;
  }
  /// Closes its streams.
  void abandon() override;
  /// Writes pending data and makes connections. If a peer cannot be reached by the deadline, the
  /// next call that needs it throws peer_lost, or timed_out if the peer should have connected.
  [[nodiscard]] Outlook progress(std::uint32_t idle, Clock::time_point deadline) override;
  void arm(WokenBy by) override;
  void sleep(Clock::time_point deadline) override;
  void interrupt() override { notify(); }

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
    std::size_t moved = 0;         // Bytes that poll() has moved and consume() has not seen.
    bool reads_on = false;         // What poll() has moved was not all that the caller waits for.
  };

  void notify() override;
  [[nodiscard]] Peer* reach(Rank peer);
  void attach(Peer& peer, TcpTransport::Line& line);
  bool attach_connected();
  [[nodiscard]] bool is_dry(Peer& peer) const;
  void note_dry(Peer& peer, std::uint64_t arrivals);
  [[nodiscard]] std::size_t send(Rank peer, std::span<const std::byte> data);
  [[nodiscard]] std::span<const std::byte> arrived(Rank peer);
  [[nodiscard]] std::size_t receive(Rank peer, std::span<std::byte> to);
  [[nodiscard]] bool flush_pending(Clock::time_point deadline);
  [[nodiscard]] bool stay_awake(std::uint32_t idle);
  void look_at_all();
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
  std::uint32_t tag_ = 0;  // Of the current call.
  const std::vector<std::uint32_t> members_;
  std::vector<Peer> peers_;
  std::vector<Rank> missing_;
  std::vector<Rank> pending_;  // Peers with data still to be written.
  bool is_abandoned_ = false;
  std::atomic<bool> has_revoked_{false};
  std::uint64_t looks_ = 1;  // Counts rounds of polling all connections.
  std::size_t dry_ = 0;      // How many were dry in this round.
  std::uint64_t news_ = 1;   // Counts events that may have made room to write.
  std::atomic<bool> is_notified_{false};
  std::uint64_t news_before_ = 0;  // The transport's event count when this went to sleep.
};

}  // namespace tutti
