#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/tcp/tcp_transport.hpp"

namespace tutti::test {

/// One rank's TCP transport together with a port for a communicator of all ranks.
class TcpEnd {
 public:
  static constexpr std::uint64_t context = 1;

  TcpEnd(TcpTransport::Setting setting, std::uint32_t ranks);

  [[nodiscard]] TcpTransport& transport() { return transport_; }
  [[nodiscard]] Port& port() { return *port_; }
  /// A port of another communicator of all ranks.
  [[nodiscard]] std::unique_ptr<Port> another_port(std::uint64_t of_context);

  operator Port&() { return *port_; }
  bool wait(std::uint32_t idle, Clock::time_point deadline) { return port_->wait(idle, deadline); }
  [[nodiscard]] std::size_t connections() const { return transport_.connections(); }

 private:
  [[nodiscard]] Membership everyone(std::uint64_t of_context) const;

  std::uint32_t self_;
  std::uint32_t ranks_;
  TcpTransport transport_;
  std::unique_ptr<Port> port_;
};

/// What TCP transports of one process need to find each other over a loopback address. A test may
/// change the members before it calls transport().
struct TcpRanks {
  explicit TcpRanks(std::uint32_t ranks, const std::string& address = "127.0.0.1:0");

  /// Rank r claims to be on the host "host<r>".
  /// `doorbells` also wakes its ports; may be null.
  [[nodiscard]] std::unique_ptr<TcpEnd> transport(std::uint32_t rank,
                                                  std::shared_ptr<Doorbells> doorbells = nullptr);

  std::vector<Socket> listeners{};
  std::vector<Contact> contacts{};
  Secret secret{"open sesame"};
  std::string group = "test";
  Patience patience{.spins = 10, .yields = 20};
  Clock::duration closing_timeout = std::chrono::seconds(2);
};

[[nodiscard]] std::vector<std::unique_ptr<TcpEnd>> tcp_transports(std::uint32_t ranks,
                                                                  Patience patience);

}  // namespace tutti::test
