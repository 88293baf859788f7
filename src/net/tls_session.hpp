#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "net/tls.hpp"

namespace tutti {

/// One end of an encrypted connection. Does not own the socket. Never blocks and raises no SIGPIPE.
class TlsSession {
 public:
  enum class Side { dials, accepts };
  enum class State {
    reading,  ///< Call open() again when the socket is readable.
    writing,  ///< Call open() again when the socket is writable.
    done,     ///< Both ends know the secret and have agreed on session keys.
    refused,  ///< The handshake failed: refusal() says why.
  };

  /// Why open() was refused.
  struct Refusal {
    std::string why{};
    bool is_final = false;  ///< Retrying cannot help.
    bool has_left = false;  ///< The only reason is that the peer closed the connection.
  };

  TlsSession(std::shared_ptr<const Tls> tls, int fd, Side side);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession() = default;

  /// Continues the TLS handshake.
  [[nodiscard]] State open();
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }

  /// Like recvmsg() and sendmsg(), with -1 and errno; EPROTO if a received record is not authentic.
  /// After EAGAIN, write() must be given the same bytes again. Requires: done.
  [[nodiscard]] ssize_t read(std::span<const iovec> parts);
  [[nodiscard]] ssize_t write(std::span<const iovec> parts);
  /// Tells the peer that no more data follows (close_notify).
  void finish();

 private:
  /// The socket as libssl sees it.
  struct Wire {
    int fd;
    int first = -1;  // The first byte received.
    bool ended = false;
    int error = 0;

    [[nodiscard]] int receive(BIO* bio, char* to, int most);
    [[nodiscard]] int send(BIO* bio, const char* from, int bytes);
  };

  [[nodiscard]] static BIO* bio_on(Wire& wire);
  void refuse();
  void refuse_by_reason();
  void tell_that_this_is_tls() const;
  /// Sets errno, and returns what read() and write() return after libssl has failed.
  [[nodiscard]] ssize_t failed(int result, int error_at_end);
  /// The content of the next record, after the first `done` bytes.
  [[nodiscard]] std::span<const std::byte> next_record(std::span<const iovec> parts,
                                                       std::size_t done);
  void count_record();

  static constexpr std::size_t record_bytes = 16384;  // The maximum of TLS.

  std::shared_ptr<const Tls> tls_;
  Wire wire_;
  Tls::Session session_;
  Refusal refusal_;
  std::uint64_t records_ = 0;  // Records sent with the current key.
  std::array<std::byte, record_bytes> gathered_{};
};

}  // namespace tutti
