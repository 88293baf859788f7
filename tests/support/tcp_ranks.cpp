#include "support/tcp_ranks.hpp"

namespace tutti::test {

TcpEnd::TcpEnd(TcpTransport::Setting setting, std::uint32_t ranks)
    : self_(setting.self),
      ranks_(ranks),
      transport_(std::move(setting)),
      port_(transport_.open(everyone(context), {})) {}

std::unique_ptr<Port> TcpEnd::another_port(std::uint64_t of_context) {
  return transport_.open(everyone(of_context), {});
}

Membership TcpEnd::everyone(std::uint64_t of_context) const {
  Membership membership{.context = of_context, .self = self_, .members = {}};
  for (std::uint32_t r = 0; r < ranks_; ++r) membership.members.push_back(r);
  return membership;
}

TcpRanks::TcpRanks(std::uint32_t ranks, const std::string& address) {
  for (std::uint32_t r = 0; r < ranks; ++r) {
    listeners.push_back(listen_on(Endpoint::parse(address), {}));
    contacts.push_back(
        {.host = "host" + std::to_string(r), .endpoints = {bound_to(listeners.back())}});
  }
}

std::unique_ptr<TcpEnd> TcpRanks::transport(std::uint32_t rank,
                                            std::shared_ptr<Doorbells> doorbells) {
  return std::make_unique<TcpEnd>(TcpTransport::Setting{.self = rank,
                                                        .contacts = contacts,
                                                        .listener = std::move(listeners[rank]),
                                                        .secret = secret,
                                                        .group = group,
                                                        .patience = patience,
                                                        .doorbells = std::move(doorbells),
                                                        .closing_timeout = closing_timeout},
                                  static_cast<std::uint32_t>(contacts.size()));
}

std::vector<std::unique_ptr<TcpEnd>> tcp_transports(std::uint32_t ranks, Patience patience) {
  TcpRanks all(ranks);
  all.patience = patience;
  std::vector<std::unique_ptr<TcpEnd>> transports;
  for (std::uint32_t r = 0; r < ranks; ++r) transports.push_back(all.transport(r));
  return transports;
}

}  // namespace tutti::test
