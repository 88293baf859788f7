#include "net/tls_session.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <openssl/err.h>

#include <tutti/error.hpp>

#include "net/crypto_use.hpp"

namespace tutti {
namespace {

// TLS content types: the first byte of a record.
constexpr int alert = 0x15;
constexpr int tls_handshake = 0x16;
// The first byte of tutti's own handshake.
constexpr int plain_hello = 't';

bool is_retry(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

using Method = std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)>;

}  // namespace

TlsSession::TlsSession(std::shared_ptr<const Tls> tls, int fd, Side side)
    : tls_(std::move(tls)), wire_{.fd = fd}, session_(tls_->open(bio_on(wire_))) {
  const CryptoUse use;
  if (side == Side::dials) {
    SSL_set_connect_state(session_.get());
    // A peer without the secret may offer a certificate instead. None is trusted.
    SSL_set_verify(session_.get(), SSL_VERIFY_PEER, nullptr);
  } else {
    SSL_set_accept_state(session_.get());
  }
}

// The wire ------------------------------------------------------------------------------------

/// libssl's own socket BIO would raise SIGPIPE, and could not report a peer that does not speak
/// TLS.
BIO* TlsSession::bio_on(Wire& wire) {
  const CryptoUse use;
  static const Method method = [] {
    Method made(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tutti"), &BIO_meth_free);
    BIO_meth_set_read(made.get(), [](BIO* bio, char* to, int most) {
      return static_cast<Wire*>(BIO_get_data(bio))->receive(bio, to, most);
    });
    BIO_meth_set_write(made.get(), [](BIO* bio, const char* from, int bytes) {
      return static_cast<Wire*>(BIO_get_data(bio))->send(bio, from, bytes);
    });
    BIO_meth_set_ctrl(made.get(), [](BIO*, int command, long, void*) -> long {
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return made;
  }();
  BIO* const bio = BIO_new(method.get());
  if (bio == nullptr) {
    throw Error(ErrorCode::internal, "libssl cannot open a session: out of memory?");
  }
  BIO_set_data(bio, &wire);
  BIO_set_init(bio, 1);
  return bio;
}

int TlsSession::Wire::receive(BIO* bio, char* to, int most) {
  BIO_clear_retry_flags(bio);
  const ssize_t bytes = recv(fd, to, static_cast<std::size_t>(most), MSG_DONTWAIT);
  if (bytes < 0) {
    if (is_retry(errno)) {
      BIO_set_retry_read(bio);
    } else {
      error = errno;
    }
    return -1;
  }
  if (bytes == 0) {
    ended = true;
    return 0;
  }
  if (first < 0) {
    first = static_cast<unsigned char>(*to);
    if (first != tls_handshake && first != alert) {
      error = EPROTO;
      return -1;
    }
  }
  return static_cast<int>(bytes);
}

int TlsSession::Wire::send(BIO* bio, const char* from, int bytes) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent =
      ::send(fd, from, static_cast<std::size_t>(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<int>(sent);
  if (is_retry(errno)) {
    BIO_set_retry_write(bio);
  } else {
    error = errno;
  }
  return -1;
}

// TLS handshake -------------------------------------------------------------------------------

TlsSession::State TlsSession::open() {
  if (!refusal_.why.empty()) return State::refused;
  const CryptoUse use;
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result == 1) {
    // OpenSSL reports the use of a pre-shared key as session reuse. Without it, the peer has not
    // proved that it knows the secret.
    if (SSL_session_reused(session_.get()) == 1) return State::done;
    refusal_ = {.why = "it does not know the secret: give all ranks the same TUTTI_SECRET",
                .is_final = true};
    return State::refused;
  }
  const int error = SSL_get_error(session_.get(), result);
  if (error == SSL_ERROR_WANT_READ) return State::reading;
  if (error == SSL_ERROR_WANT_WRITE) return State::writing;
  refuse();
  return State::refused;
}

void TlsSession::refuse() {
  const bool is_tls = wire_.first < 0 || wire_.first == tls_handshake || wire_.first == alert;
  if (!is_tls) {
    const bool is_tutti = wire_.first == plain_hello;
    refusal_ = {.why = is_tutti ? "it does not encrypt, but this end does: set TUTTI_TLS=1 for all "
                                  "ranks, or for none"
                                : "it does not speak tutti's protocol",
                .is_final = is_tutti};
    if (is_tutti) tell_that_this_is_tls();
  } else if (wire_.ended || wire_.error != 0) {
    refusal_ = {.why = wire_.error != 0 ? std::generic_category().message(wire_.error)
                                        : "it closed the connection during the TLS handshake",
                .has_left = true};
  } else {
    refuse_by_reason();
  }
}

void TlsSession::refuse_by_reason() {
  const unsigned long error = ERR_peek_error();
  switch (ERR_GET_REASON(error)) {
    case SSL_R_BINDER_DOES_NOT_VERIFY:
      refusal_ = {.why = "it does not know the secret: give all ranks the same TUTTI_SECRET",
                  .is_final = true};
      return;
    case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
      refusal_ = {.why = "it has a different secret: give all ranks the same TUTTI_SECRET",
                  .is_final = true};
      return;
    default:
      break;
  }
  const char* const reason = ERR_reason_error_string(error);
  refusal_ = {.why =
                  std::string("TLS failed: ") + (reason == nullptr ? "no reason given" : reason)};
}

/// Sends the alert "unexpected message", so that the plain peer can report the reason. Best effort:
/// not retried if the socket is full.
void TlsSession::tell_that_this_is_tls() const {
  constexpr std::array<unsigned char, 7> record{alert, 3, 3, 0, 2, 2, 10};
  (void)::send(wire_.fd, record.data(), record.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Bytes ---------------------------------------------------------------------------------------

ssize_t TlsSession::read(std::span<const iovec> parts) {
  const CryptoUse use;
  std::size_t total = 0;
  for (const iovec& part : parts) {
    for (std::size_t at = 0; at < part.iov_len;) {
      std::size_t bytes = 0;
      ERR_clear_error();
      const int result = SSL_read_ex(session_.get(), static_cast<std::byte*>(part.iov_base) + at,
                                     part.iov_len - at, &bytes);
      if (result != 1) return total > 0 ? static_cast<ssize_t>(total) : failed(result, 0);
      at += bytes;
      total += bytes;
    }
  }
  return static_cast<ssize_t>(total);
}

ssize_t TlsSession::write(std::span<const iovec> parts) {
  const CryptoUse use;
  std::size_t total = 0;
  for (;;) {
    const std::span<const std::byte> record = next_record(parts, total);
    if (record.empty()) return static_cast<ssize_t>(total);
    std::size_t bytes = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(session_.get(), record.data(), record.size(), &bytes);
    if (result != 1) return total > 0 ? static_cast<ssize_t>(total) : failed(result, EPIPE);
    total += bytes;
    count_record();
  }
}

/// A full record is sent from where it is. Smaller parts are copied into one buffer, because the
/// overhead of a record equals that of about a kilobyte of data.
std::span<const std::byte> TlsSession::next_record(std::span<const iovec> parts, std::size_t done) {
  while (!parts.empty() && done >= parts.front().iov_len) {
    done -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (parts.empty()) return {};
  const std::size_t left = parts.front().iov_len - done;
  const auto* const from = static_cast<const std::byte*>(parts.front().iov_base) + done;
  if (parts.size() == 1 || left >= record_bytes) return {from, std::min(left, record_bytes)};
  std::memcpy(gathered_.data(), from, left);
  std::size_t gathered = left;
  for (const iovec& part : parts.subspan(1)) {
    const std::size_t bytes = std::min(part.iov_len, record_bytes - gathered);
    std::memcpy(gathered_.data() + gathered, part.iov_base, bytes);
    gathered += bytes;
  }
  return std::span(gathered_).first(gathered);
}

/// The key update is sent with the next record. If libssl cannot schedule it yet, it is retried
/// after the next record.
void TlsSession::count_record() {
  if (++records_ < tls_->records_per_key()) return;
  if (SSL_key_update(session_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1) records_ = 0;
}

ssize_t TlsSession::failed(int result, int error_at_end) {
  const int error = SSL_get_error(session_.get(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
    errno = EAGAIN;
    return -1;
  }
  if (error == SSL_ERROR_ZERO_RETURN) wire_.ended = true;
  if (wire_.error == 0 && !wire_.ended) wire_.error = EPROTO;
  errno = wire_.error != 0 ? wire_.error : error_at_end;
  return errno == 0 ? 0 : -1;
}

void TlsSession::finish() {
  const CryptoUse use;
  // A second SSL_shutdown() would wait for the peer's close_notify.
  if ((SSL_get_shutdown(session_.get()) & SSL_SENT_SHUTDOWN) != 0) return;
  ERR_clear_error();
  (void)SSL_shutdown(session_.get());
}

}  // namespace tutti
