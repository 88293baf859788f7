#include "transport/tcp/open.hpp"

#include "transport/tcp/tcp_transport.hpp"

namespace tutti::tcp {

bool reaches(const Whereabouts& /*a*/, const Whereabouts& /*b*/) { return true; }

std::unique_ptr<Transport> open(const TransportRequest& request, std::string& /*trouble*/) {
  TransportRequest::Door door = request.open_door();
  auto transport = std::make_unique<TcpTransport>(
      TcpTransport::Setting{.self = request.self,
                            .contacts = std::move(door.contacts),
                            .listener = std::move(door.listener),
                            .secret = std::move(door.secret),
                            .group = std::move(door.group),
                            .patience = request.patience,
                            .doorbells = request.doorbells,
                            .closing_timeout = request.closing_timeout,
                            .has_ended = request.has_ended});
  return transport;
}

}  // namespace tutti::tcp
