#include "rendezvous/rendezvous.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"
#include "net/socket.hpp"
#include "rendezvous/pmi_exchange.hpp"
#include "rendezvous/tcp_member.hpp"
#include "rendezvous/tcp_root.hpp"

namespace tutti {
namespace {

class LoneExchange : public Exchange {
 public:
  std::vector<std::string> all_gather(const std::string& contribution) override {
    return {contribution};
  }
};

/// A launcher accepts one session per process and ends the job if it breaks off, so the session
/// lasts until the process ends.
std::shared_ptr<PmiSession> pmi_session(const Launch& launch, Clock::time_point deadline) {
  static std::mutex mutex;
  static std::shared_ptr<PmiSession> session;
  const std::lock_guard lock(mutex);
  if (!session) {
    session = std::make_shared<PmiSession>(*launch.pmi_fd, launch.rank, launch.size, deadline);
  }
  return session;
}

/// A copy of the socket, since the next communicator needs the original too. Programs that this
/// process starts inherit neither.
Socket inherited_listener(int fd) {
  int listens = 0;
  socklen_t length = sizeof(listens);
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0) {
    throw Error(ErrorCode::invalid_argument,
                "TUTTI_ROOT_FD=" + std::to_string(fd) +
                    " is not a listening socket: let the launcher leave it open");
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  Socket copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    throw Error(ErrorCode::unsupported,
                "cannot copy the socket of TUTTI_ROOT_FD: " + system_reason(errno));
  }
  fcntl(copy.fd(), F_SETFL, fcntl(copy.fd(), F_GETFL) | O_NONBLOCK);
  return copy;
}

/// The name holds the user's id, so that jobs of different users do not collide.
Endpoint name_of(const Launch& launch) {
  return Endpoint::within_host("tutti/" + std::to_string(geteuid()) + "/" + launch.root_name);
}

bool is_reachable_from_outside(const std::vector<Endpoint>& endpoints) {
  return !std::all_of(endpoints.begin(), endpoints.end(),
                      [](const Endpoint& each) { return each.is_loopback(); });
}

/// Without a secret rank 0 refuses to listen there: fail now rather than wait for it.
void check_secret(const Launch& launch, const std::vector<Endpoint>& named) {
  if (!launch.secret.bytes.empty() || !is_reachable_from_outside(named)) return;
  throw Error(
      ErrorCode::invalid_argument,
      "rank " + std::to_string(launch.rank) + " would join the rendezvous at " + launch.root_host +
          ":" + std::to_string(launch.root_port) +
          ", where any host could join the job: set TUTTI_SECRET to the same random text on "
          "all ranks, or use 127.0.0.1");
}

/// Listens on the first named address if all of them are loopback; else, given a secret, on all
/// addresses of the host: a host often resolves its own name to loopback, and may not know the
/// addresses by which others reach it.
Socket listen_at_root(const Launch& launch) {
  const std::vector<Endpoint> named = Endpoint::resolve(launch.root_host, launch.root_port);
  check_secret(launch, named);
  const bool is_loopback_name = launch.root_host == "localhost" ||
                                launch.root_host.starts_with("127.") || launch.root_host == "::1";
  if (!launch.secret.bytes.empty() && (is_reachable_from_outside(named) || !is_loopback_name)) {
    return listen_everywhere({.first = launch.root_port, .last = launch.root_port});
  }
  return listen_on(named.front(), {});
}

std::unique_ptr<Exchange> open_root(const Launch& launch, const Group& group,
                                    Clock::time_point deadline) {
  Socket listener;
  if (launch.root_fd) {
    listener = inherited_listener(*launch.root_fd);
  } else if (!launch.root_name.empty()) {
    listener = listen_on(name_of(launch), {});
  } else {
    listener = listen_at_root(launch);
  }
  return std::make_unique<TcpRoot>(group, std::move(listener), deadline);
}

std::unique_ptr<Exchange> open_member(const Launch& launch, const Group& group,
                                      Clock::time_point deadline) {
  if (!launch.root_name.empty()) {
    const auto find = [&] { return std::vector<Endpoint>{name_of(launch)}; };
    return std::make_unique<TcpMember>(group, find, deadline);
  }
  const auto find = [&] { return Endpoint::resolve(launch.root_host, launch.root_port); };
  if (launch.secret.bytes.empty()) check_secret(launch, find());
  return std::make_unique<TcpMember>(group, find, deadline);
}

}  // namespace

std::unique_ptr<Exchange> open_exchange(const Launch& launch, Clock::time_point deadline) {
  if (launch.size == 1) return std::make_unique<LoneExchange>();
  if (launch.pmi_fd) {
    return std::make_unique<PmiExchange>(pmi_session(launch, deadline), deadline);
  }
  const Group group{
      .rank = launch.rank, .size = launch.size, .job = launch.job, .secret = launch.secret};
  return launch.rank == Rank(0) ? open_root(launch, group, deadline)
                                : open_member(launch, group, deadline);
}

}  // namespace tutti
