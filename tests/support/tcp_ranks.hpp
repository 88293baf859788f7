#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/tcp/tcp_transport.hpp"

namespace tutti::test {

/// What TCP transports of one process need to find each other over a loopback address. What is in
/// it can be changed before transport() takes it.
struct TcpRanks {
  explicit TcpRanks(std::uint32_t ranks, const std::string& address = "127.0.0.1:0");

  /// Rank r is said to be on the host "host<r>".
  [[nodiscard]] std::unique_ptr<TcpTransport> transport(std::uint32_t rank);

  std::vector<Socket> listeners{};
  std::vector<Contact> contacts{};
  Secret secret{"open sesame"};
  std::string group = "test";
  Patience patience{.spins = 10, .yields = 20};
};

[[nodiscard]] std::vector<std::unique_ptr<Transport>> tcp_transports(std::uint32_t ranks,
                                                                     Patience patience);

}  // namespace tutti::test
