#include "support/tcp_ranks.hpp"

namespace tutti::test {

TcpRanks::TcpRanks(std::uint32_t ranks, const std::string& address) {
  for (std::uint32_t r = 0; r < ranks; ++r) {
    listeners.push_back(listen_on(Endpoint::parse(address), {}));
    contacts.push_back(
        {.host = "host" + std::to_string(r), .endpoints = {bound_to(listeners.back())}});
  }
}

std::unique_ptr<TcpTransport> TcpRanks::transport(std::uint32_t rank) {
  return std::make_unique<TcpTransport>(Rank{rank}, contacts, std::move(listeners[rank]), secret,
                                        group, patience);
}

std::vector<std::unique_ptr<Transport>> tcp_transports(std::uint32_t ranks, Patience patience) {
  TcpRanks all(ranks);
  all.patience = patience;
  std::vector<std::unique_ptr<Transport>> transports;
  for (std::uint32_t r = 0; r < ranks; ++r) transports.push_back(all.transport(r));
  return transports;
}

}  // namespace tutti::test
