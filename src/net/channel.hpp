#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>

#include "net/socket.hpp"
#include "net/tls_session.hpp"

namespace tutti {

/// Bytes to and from the other end of a socket, as they are or, once a handshake has asked for it,
/// encrypted. Never blocks and raises no SIGPIPE.
///
/// Whoever sleeps on the socket must first have read until EAGAIN: what was decrypted together with
/// what was asked for wakes nobody.
class Channel {
 public:
  Channel() = default;
  explicit Channel(Socket socket) : socket_(std::move(socket)) { socket_.close_in_children(); }

  [[nodiscard]] const Socket& socket() const { return socket_; }
  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(socket_); }

  /// From now on nothing goes or comes that is not encrypted. Requires: it was not yet.
  void encrypt(std::shared_ptr<const Tls> tls, TlsSession::Side side);
  /// Null if what goes and comes is plain.
  [[nodiscard]] TlsSession* tls() { return tls_.get(); }

  /// As recvmsg() and sendmsg() do: how many bytes, 0 at the end, or -1 and errno. After EAGAIN
  /// write() must be offered the same bytes again, and may be offered more.
  [[nodiscard]] ssize_t read(std::span<iovec> parts);
  [[nodiscard]] ssize_t read(void* to, std::size_t most);
  [[nodiscard]] ssize_t write(std::span<iovec> parts);
  [[nodiscard]] ssize_t write(const void* from, std::size_t bytes);

  /// Says that no more will be written.
  void finish();
  /// Throws away what has come. From then on nothing can be read.
  void discard();

 private:
  Socket socket_;
  std::unique_ptr<TlsSession> tls_;  // Goes before its socket does.
};

}  // namespace tutti
