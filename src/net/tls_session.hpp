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

/// One end of an encrypted connection, on a socket of somebody else. Never blocks and raises no
/// SIGPIPE.
class TlsSession {
 public:
  enum class Side { dials, accepts };
  enum class State {
    reading,  ///< Go on when there is something to read.
    writing,  ///< Go on when there is room to write.
    done,     ///< Both ends have the same secret, and keys that nobody else knows.
    refused,  ///< There is nobody to talk to: refusal() says why.
  };

  /// Why open() was refused.
  struct Refusal {
    std::string why{};
    bool is_final = false;  ///< To try again is of no use.
    bool has_left = false;  ///< The other end has gone, and nothing else was wrong with it.
  };

  TlsSession(std::shared_ptr<const Tls> tls, int fd, Side side);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession() = default;

  /// Goes on with agreeing on keys.
  [[nodiscard]] State open();
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }

  /// As recvmsg() and sendmsg() do, with -1 and errno; EPROTO if somebody tampers with what
  /// comes. After EAGAIN write() must be offered the same bytes again. Requires: done.
  [[nodiscard]] ssize_t read(std::span<const iovec> parts);
  [[nodiscard]] ssize_t write(std::span<const iovec> parts);
  /// Tells the other end that no more will be written.
  void finish();

 private:
  /// The socket as libssl sees it.
  struct Wire {
    int fd;
    int first = -1;  // The first byte that came.
    bool ended = false;
    int error = 0;

    [[nodiscard]] int receive(BIO* bio, char* to, int most);
    [[nodiscard]] int send(BIO* bio, const char* from, int bytes);
  };

  [[nodiscard]] static BIO* bio_on(Wire& wire);
  void refuse();
  void refuse_by_reason();
  void tell_that_this_is_tls() const;
  /// What read() and write() return when libssl has failed.
  [[nodiscard]] ssize_t failed(int result, int error_at_end);
  /// What goes into the record after the first `done` bytes.
  [[nodiscard]] std::span<const std::byte> next_record(std::span<const iovec> parts,
                                                       std::size_t done);
  void count_record();

  static constexpr std::size_t record_bytes = 16384;  // The most that TLS allows.

  std::shared_ptr<const Tls> tls_;
  Wire wire_;
  Tls::Session session_;
  Refusal refusal_;
  std::uint64_t records_ = 0;  // Sent with the present key.
  std::array<std::byte, record_bytes> gathered_{};
};

}  // namespace tutti
