#include "net/socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include <tutti/error.hpp>

#include "core/reject.hpp"
#include "core/system_reason.hpp"
#include "core/unshared_descriptors.hpp"

namespace tutti {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// Names and addresses -------------------------------------------------------------------------

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Null if there are none; `error` then says why.
AddressList look_up(const std::string& host, std::uint16_t port, int flags, int& error) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  return {error == 0 ? found : nullptr, &freeaddrinfo};
}

const sockaddr_in& as_ipv4(const sockaddr* address) {
  return *reinterpret_cast<const sockaddr_in*>(address);
}
const sockaddr_in6& as_ipv6(const sockaddr* address) {
  return *reinterpret_cast<const sockaddr_in6*>(address);
}

bool is_any(const Endpoint& endpoint) {
  if (endpoint.family() == AF_INET) return as_ipv4(endpoint.address()).sin_addr.s_addr == 0;
  return endpoint.family() == AF_INET6 &&
         IN6_IS_ADDR_UNSPECIFIED(&as_ipv6(endpoint.address()).sin6_addr);
}

Endpoint any_address(int family) {
  sockaddr_storage any{};
  any.ss_family = static_cast<sa_family_t>(family);
  return {reinterpret_cast<const sockaddr*>(&any),
          family == AF_INET ? socklen_t{sizeof(sockaddr_in)} : socklen_t{sizeof(sockaddr_in6)}};
}

// Listening -----------------------------------------------------------------------------------

void switch_on(const Socket& socket, int level, int option, int value = 1) {
  setsockopt(socket.fd(), level, option, &value, sizeof(value));
}

Socket open_socket(int family) {
  return Socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// If it returns no socket, errno says why.
Socket try_listen(const Endpoint& at) {
  Socket socket = open_socket(at.family());
  if (!socket) return {};
  // Connections of an earlier job in TIME_WAIT must not block its port.
  if (at.family() != AF_UNIX) switch_on(socket, SOL_SOCKET, SO_REUSEADDR);
  if (at.family() == AF_INET6) switch_on(socket, IPPROTO_IPV6, IPV6_V6ONLY, is_any(at) ? 0 : 1);
  constexpr int backlog = 4096;
  if (bind(socket.fd(), at.address(), at.length()) != 0 || listen(socket.fd(), backlog) != 0) {
    const int error = errno;
    socket = Socket();
    errno = error;
  }
  return socket;
}

Socket try_listen(const Endpoint& address, PortRange ports) {
  for (std::uint32_t port = ports.first; port <= ports.last; ++port) {
    Socket socket = try_listen(address.with_port(static_cast<std::uint16_t>(port)));
    if (socket || errno != EADDRINUSE) return socket;
  }
  return {};
}

[[noreturn]] void cannot_listen(const Endpoint& address, PortRange ports, int error) {
  const std::string at = "cannot listen on " + address.with_port(ports.first).text();
  if (error == EADDRINUSE && address.family() == AF_UNIX) {
    reject(at + ": another program uses this name; end it, or choose another TUTTI_ROOT");
  }
  if (error == EMFILE || error == ENFILE) {
    throw Error(ErrorCode::unsupported, at + ": " + system_reason(error));
  }
  if (error != EADDRINUSE) {
    reject(at + ": " + reason(error) + "; name an address of this host");
  }
  if (ports.first == ports.last) {
    reject(at + ": port " + std::to_string(ports.first) +
           " is in use; end the program that holds it, or choose another MASTER_PORT or "
           "TUTTI_PORT_RANGE");
  }
  reject(at + ": all ports " + std::to_string(ports.first) + "-" + std::to_string(ports.last) +
         " are in use; choose another TUTTI_PORT_RANGE");
}

bool is_readable(const Socket& socket) {
  const int error = errno;
  pollfd readable{.fd = socket.fd(), .events = POLLIN, .revents = 0};
  const bool is = poll(&readable, 1, 0) > 0;
  errno = error;
  return is;
}

bool is_within_host(const Socket& socket) {
  int family = AF_UNSPEC;
  socklen_t length = sizeof(family);
  getsockopt(socket.fd(), SOL_SOCKET, SO_DOMAIN, &family, &length);
  return family == AF_UNIX;
}

std::optional<uid_t> user_of(const Socket& socket) {
  ucred other{};
  socklen_t length = sizeof(other);
  if (getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &other, &length) != 0) return std::nullopt;
  return other.uid;
}

}  // namespace

Socket::~Socket() {
  if (fd_ < 0) return;
  if (is_unshared_) {
    if (!origin_.is_here()) return;  // Already closed in this child; the number may be reused.
    UnsharedDescriptors::remove(fd_);
  }
  close(fd_);
}

void Socket::close_in_children() {
  if (fd_ < 0) return;
  is_unshared_ = true;
  origin_ = ProcessOrigin();
  UnsharedDescriptors::add(fd_);
}

// Endpoint ------------------------------------------------------------------------------------

Endpoint::Endpoint(const sockaddr* address, socklen_t length)
    : length_(std::min<socklen_t>(length, sizeof(address_))) {
  std::memcpy(&address_, address, length_);
}

Endpoint Endpoint::parse(std::string_view text) {
  constexpr std::string_view unix_prefix = "unix:@";
  if (text.starts_with(unix_prefix)) {
    return within_host(std::string(text.substr(unix_prefix.size())));
  }
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto port =
      colon == std::string_view::npos ? std::nullopt : parse_port(text.substr(colon + 1));
  int error = 0;
  // Without brackets, the port of an IPv6 address would be ambiguous.
  const bool well_formed = port && !host.empty() && host.find('\0') == std::string_view::npos &&
                           bracketed == (host.find(':') != std::string_view::npos);
  if (well_formed) {
    if (const AddressList found = look_up(std::string(host), *port, AI_NUMERICHOST, error)) {
      return {found->ai_addr, found->ai_addrlen};
    }
  }
  reject("'" + std::string(text) +
         "' is not an address; write such as 10.0.0.1:29500 or [fe80::1%eth0]:29500");
}

std::vector<Endpoint> Endpoint::resolve(const std::string& host, std::uint16_t port) {
  int error = 0;
  const AddressList found = look_up(host, port, 0, error);
  std::vector<Endpoint> endpoints;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET || each->ai_family == AF_INET6) {
      endpoints.emplace_back(each->ai_addr, each->ai_addrlen);
    }
  }
  if (endpoints.empty()) {
    reject("cannot find the host '" + host + "': " +
           (error == EAI_SYSTEM
                ? reason(errno)
                : std::string(error == 0 ? "it has no address" : gai_strerror(error))) +
           "; check its name, or give its address");
  }
  return endpoints;
}

Endpoint Endpoint::within_host(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A leading zero byte makes the name abstract: it has no file.
  if (name.empty() || name.size() >= sizeof(address.sun_path)) {
    reject("'" + name + "' cannot be the name of a socket: it has " + std::to_string(name.size()) +
           " bytes; use 1 to " + std::to_string(sizeof(address.sun_path) - 1));
  }
  std::memcpy(&address.sun_path[1], name.data(), name.size());
  return {reinterpret_cast<const sockaddr*>(&address),
          static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

std::string Endpoint::text() const {
  const std::string alone = host();
  if (family() == AF_INET6) return "[" + alone + "]:" + std::to_string(port());
  return family() == AF_INET ? alone + ":" + std::to_string(port()) : alone;
}

std::string Endpoint::host() const {
  if (length_ == 0) return "no address";
  if (family() == AF_UNIX) {
    constexpr std::size_t name_at = offsetof(sockaddr_un, sun_path) + 1;
    const auto* bytes = reinterpret_cast<const char*>(&address_);
    return "unix:@" + (length_ > name_at ? std::string(bytes + name_at, bytes + length_) : "");
  }
  std::array<char, NI_MAXHOST> text{};
  const int error =
      getnameinfo(address(), length_, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text.data() : "an unknown address";
}

bool Endpoint::is_loopback() const {
  constexpr std::uint32_t net = 127;
  if (family() == AF_INET) return ntohl(as_ipv4(address()).sin_addr.s_addr) >> 24 == net;
  if (family() == AF_UNIX) return true;
  if (family() != AF_INET6) return false;
  const in6_addr& ip = as_ipv6(address()).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&ip) || (IN6_IS_ADDR_V4MAPPED(&ip) && ip.s6_addr[12] == net);
}

std::uint16_t Endpoint::port() const {
  if (family() == AF_INET) return ntohs(as_ipv4(address()).sin_port);
  return family() == AF_INET6 ? ntohs(as_ipv6(address()).sin6_port) : std::uint16_t{0};
}

Endpoint Endpoint::with_port(std::uint16_t port) const {
  Endpoint other = *this;
  if (family() == AF_INET) {
    reinterpret_cast<sockaddr_in&>(other.address_).sin_port = htons(port);
  } else if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(other.address_).sin6_port = htons(port);
  }
  return other;
}

PortRange PortRange::parse(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_port(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_port(text.substr(dash + 1));
  const bool any_in_range = dash != std::string_view::npos && first == std::uint16_t{0};
  if (!first || !last || *last < *first || any_in_range) {
    reject("'" + std::string(text) +
           "' is not a range of ports; write such as 40000-40100, or 0 for any");
  }
  return {.first = *first, .last = *last};
}

// Sockets -------------------------------------------------------------------------------------

Socket listen_on(const Endpoint& address, PortRange ports) {
  if (address.port() != 0) ports = {.first = address.port(), .last = address.port()};
  Socket socket = try_listen(address, ports);
  if (!socket) cannot_listen(address, ports, errno);
  return socket;
}

Socket listen_everywhere(PortRange ports) {
  Socket socket = try_listen(any_address(AF_INET6), ports);
  if (socket) return socket;
  // The host has no IPv6.
  if (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL) {
    return listen_on(any_address(AF_INET), ports);
  }
  cannot_listen(any_address(AF_INET6), ports, errno);
}

Socket listen_on_all(std::span<const Endpoint> addresses, PortRange ports) {
  return addresses.size() == 1 ? listen_on(addresses.front(), ports) : listen_everywhere(ports);
}

Endpoint bound_to(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw Error(ErrorCode::internal, "cannot get the local address of a socket: " + reason(errno));
  }
  return {reinterpret_cast<const sockaddr*>(&address), length};
}

Endpoint connected_to(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
  return {reinterpret_cast<const sockaddr*>(&address), length};
}

bool is_same_user(const Socket& socket) {
  return !is_within_host(socket) || user_of(socket) == geteuid();
}

std::string source_of(const Socket& socket) {
  if (!is_within_host(socket)) return connected_to(socket).host();
  const auto user = user_of(socket);
  return user ? "user " + std::to_string(*user) + " of this host" : "an unknown user of this host";
}

Socket begin_connect(const Endpoint& to) {
  Socket socket = open_socket(to.family());
  if (!socket) return {};
  switch_on(socket, IPPROTO_TCP, TCP_NODELAY);
  if (connect(socket.fd(), to.address(), to.length()) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    const int error = errno;
    socket = Socket();
    errno = error;
  }
  return socket;
}

Socket accept_from(const Socket& listener) {
  // Skip connections that are already closed. The limit keeps a flood of them from blocking here.
  for (int attempts = 0; attempts < 64; ++attempts) {
    Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      switch_on(socket, IPPROTO_TCP, TCP_NODELAY);
      return socket;
    }
    if (errno != EINTR && errno != ECONNABORTED) break;
  }
  // The kernel reports a lack of descriptors even if no connection is pending.
  if ((errno == EMFILE || errno == ENFILE) && !is_readable(listener)) errno = EAGAIN;
  return {};
}

}  // namespace tutti
