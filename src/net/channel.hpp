#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>

#include "net/socket.hpp"
#include "net/tls_session.hpp"

namespace tutti {

/// A byte stream over a connected socket: plain, or encrypted after encrypt(). Never blocks and
/// raises no SIGPIPE.
///
/// Read until EAGAIN before polling the socket: bytes that were decrypted ahead of the read are
/// buffered here and do not make the socket readable.
class Channel {
 public:
  Channel() = default;
  explicit Channel(Socket socket) : socket_(std::move(socket)) { socket_.close_in_children(); }

  [[nodiscard]] const Socket& socket() const { return socket_; }
  [[nodiscard]] int fd() const { return socket_.fd(); }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(socket_); }

  /// Encrypts everything from now on. Requires: not called before.
  void encrypt(std::shared_ptr<const Tls> tls, TlsSession::Side side);
  /// Null if the stream is plain.
  [[nodiscard]] TlsSession* tls() { return tls_.get(); }

  /// Like recvmsg() and sendmsg(): return the number of bytes, 0 at end of stream, or -1 and errno.
  /// After EAGAIN, write() must be given the same bytes again, perhaps followed by more.
  [[nodiscard]] ssize_t read(std::span<iovec> parts);
  [[nodiscard]] ssize_t read(void* to, std::size_t most);
  [[nodiscard]] ssize_t write(std::span<iovec> parts);
  [[nodiscard]] ssize_t write(const void* from, std::size_t bytes);

  /// Closes the write side: tells the peer that no more data follows.
  void finish();
  /// Drops all received bytes. The channel cannot be read afterwards.
  void discard();

 private:
  Socket socket_;
  std::unique_ptr<TlsSession> tls_;  // Uses socket_, so it is destroyed first.
};

}  // namespace tutti
