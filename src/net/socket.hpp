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

/// Owns a socket descriptor. All sockets that tutti opens are close-on-exec.
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
  /// Children forked from now on close the descriptor: see UnsharedDescriptors.
  void close_in_children();

 private:
  int fd_ = -1;
  bool is_unshared_ = false;
  ProcessOrigin origin_{};  // The process that called close_in_children().
};

/// The address of a socket: an IPv4 or IPv6 address and a port, or an abstract Unix socket name.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const sockaddr* address, socklen_t length);

  /// "10.0.0.1:29500", "[fe80::1%eth0]:29500", "unix:@name". Throws invalid_argument.
  [[nodiscard]] static Endpoint parse(std::string_view text);
  /// An abstract Unix socket: visible on this host only, and gone with its last socket. Any user
  /// of the host may bind or dial it, so check is_same_user(). Throws invalid_argument if the name
  /// is too long.
  [[nodiscard]] static Endpoint within_host(const std::string& name);
  /// All addresses of a host name, in the order in which to try them. Throws invalid_argument that
  /// names the host if there are none.
  [[nodiscard]] static std::vector<Endpoint> resolve(const std::string& host, std::uint16_t port);

  /// The inverse of parse().
  [[nodiscard]] std::string text() const;
  /// The address alone, without port and brackets.
  [[nodiscard]] std::string host() const;
  /// True if only this host can reach it.
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

/// The ports that may be bound: TUTTI_PORT_RANGE. Zero means any.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  /// "40000-40100" or "40000". Throws invalid_argument.
  [[nodiscard]] static PortRange parse(std::string_view text);
};

/// A non-blocking socket that listens on `address` and the first free port of the range, or on the
/// port of `address` if it has one. Throws invalid_argument that names the address, the cause and
/// the cure, and unsupported if the process is out of descriptors.
[[nodiscard]] Socket listen_on(const Endpoint& address, PortRange ports);
/// Listens on all addresses, IPv6 and IPv4.
[[nodiscard]] Socket listen_everywhere(PortRange ports);
/// Listens on the address if there is exactly one, else on all addresses of the host. Requires: at
/// least one.
[[nodiscard]] Socket listen_on_all(std::span<const Endpoint> addresses, PortRange ports);
/// The local address of a socket.
[[nodiscard]] Endpoint bound_to(const Socket& socket);
/// The peer address of a connection; an empty endpoint if the peer is gone.
[[nodiscard]] Endpoint connected_to(const Socket& socket);
/// True if the peer of a Unix socket runs as the same user (SO_PEERCRED). Always true for TCP,
/// where the system cannot tell.
[[nodiscard]] bool is_same_user(const Socket& socket);

/// The source of a connection, for logs and for grouping peers: the peer's IP address, or its user
/// for a Unix socket. The peer cannot choose it freely.
[[nodiscard]] std::string source_of(const Socket& socket);

/// Starts a non-blocking connect, with TCP_NODELAY. Returns no socket if it failed at once: errno
/// says why.
[[nodiscard]] Socket begin_connect(const Endpoint& to);
/// Accepts the next pending connection, non-blocking and with TCP_NODELAY. Returns no socket if
/// none is pending (errno is EAGAIN) or if accepting failed (errno says why; EMFILE: out of
/// descriptors).
[[nodiscard]] Socket accept_from(const Socket& listener);

}  // namespace tutti
