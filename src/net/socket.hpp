#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/process_origin.hpp"

namespace tutti {

/// Owns a socket. None that tutti opens is inherited by programs that it starts.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        is_unshared_(other.is_unshared_),
        origin_(other.origin_) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(is_unshared_, other.is_unshared_);
    std::swap(origin_, other.origin_);
    return *this;
  }
  ~Socket();

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  /// A child that is forked from now on does not hold it: see UnsharedDescriptors.
  void close_in_children();

 private:
  int fd_ = -1;
  bool is_unshared_ = false;
  ProcessOrigin origin_{};  // Of whoever called close_in_children().
};

/// Where somebody listens: an IPv4 or IPv6 address and a port, or a name within this host.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const sockaddr* address, socklen_t length);

  /// "10.0.0.1:29500", "[fe80::1%eth0]:29500", "unix:@name". Throws invalid_argument.
  [[nodiscard]] static Endpoint parse(std::string_view text);
  /// A name that only this host knows and that vanishes with its last socket: an abstract Unix
  /// socket. Anybody here may take or dial it, so ask is_same_user() who it was. Throws
  /// invalid_argument if the name is too long.
  [[nodiscard]] static Endpoint within_host(const std::string& name);
  /// All that a name stands for, in the order in which to try them. Throws invalid_argument that
  /// names the host if there are none.
  [[nodiscard]] static std::vector<Endpoint> resolve(const std::string& host, std::uint16_t port);

  /// The inverse of parse().
  [[nodiscard]] std::string text() const;
  /// The address alone, without port and brackets.
  [[nodiscard]] std::string host() const;
  /// Whether only this host can reach it.
  [[nodiscard]] bool is_loopback() const;
  [[nodiscard]] int family() const { return address_.ss_family; }
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] Endpoint with_port(std::uint16_t port) const;
  [[nodiscard]] const sockaddr* address() const {
    return reinterpret_cast<const sockaddr*>(&address_);
  }
  [[nodiscard]] socklen_t length() const { return length_; }

 private:
  sockaddr_storage address_{};
  socklen_t length_ = 0;
};

/// Ports from which to take one: TUTTI_PORT_RANGE. Zero is any.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  /// "40000-40100" or "40000". Throws invalid_argument.
  [[nodiscard]] static PortRange parse(std::string_view text);
};

/// This host's addresses of interfaces that are up, loopback last, filtered as NCCL filters them
/// by NCCL_SOCKET_IFNAME: prefixes, "=" for exact names, "^" for all but these, commas between.
/// Throws invalid_argument that lists the interfaces there are if the filter leaves none.
[[nodiscard]] std::vector<Endpoint> own_addresses(std::string_view interface_filter);

/// Listens, without blocking, on `address` and the first free port of the range; the port of
/// `address` counts if it has one. Throws invalid_argument that names address and cause (the port
/// is in use: which, and what to do about it).
[[nodiscard]] Socket listen_on(const Endpoint& address, PortRange ports);
/// Listens on all addresses, IPv6 and IPv4.
[[nodiscard]] Socket listen_everywhere(PortRange ports);
/// Listens on these addresses of this host: if it is one, on no other; else everywhere. Requires:
/// some.
[[nodiscard]] Socket listen_on_all(std::span<const Endpoint> addresses, PortRange ports);
/// Where a socket is bound to.
[[nodiscard]] Endpoint bound_to(const Socket& socket);
/// Where the other end of a connection is; no address if it has gone.
[[nodiscard]] Endpoint connected_to(const Socket& socket);
/// Whether the other end of a connection belongs to the same user, where the system can tell: of a
/// name within this host. True for all others.
[[nodiscard]] bool is_same_user(const Socket& socket);

/// Where the other end of a connection comes from, for people and to tell one from the other: the
/// address of its host, or, within this one, its user; never anything that it could make up.
[[nodiscard]] std::string source_of(const Socket& socket);

/// Begins to connect, without blocking. The socket sends small messages at once (TCP_NODELAY).
/// None if the attempt failed outright: errno says why.
[[nodiscard]] Socket begin_connect(const Endpoint& to);
/// The next who asks, not blocking and with TCP_NODELAY; none if nobody does (errno is EAGAIN), or
/// if he cannot be let in: errno says why (EMFILE: close something first).
[[nodiscard]] Socket accept_from(const Socket& listener);

}  // namespace tutti
