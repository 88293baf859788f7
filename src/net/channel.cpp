#include "net/channel.hpp"

#include <array>

namespace tutti {

void Channel::encrypt(std::shared_ptr<const Tls> tls, TlsSession::Side side) {
  tls_ = std::make_unique<TlsSession>(std::move(tls), socket_.fd(), side);
}

ssize_t Channel::read(std::span<iovec> parts) {
  if (tls_) return tls_->read(parts);
  if (parts.size() == 1) {
    return recv(socket_.fd(), parts[0].iov_base, parts[0].iov_len, MSG_DONTWAIT);
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return recvmsg(socket_.fd(), &message, MSG_DONTWAIT);
}

ssize_t Channel::read(void* to, std::size_t most) {
  iovec part{.iov_base = to, .iov_len = most};
  return read({&part, 1});
}

ssize_t Channel::write(std::span<iovec> parts) {
  if (tls_) return tls_->write(parts);
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return sendmsg(socket_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t Channel::write(const void* from, std::size_t bytes) {
  iovec part{.iov_base = const_cast<void*>(from), .iov_len = bytes};
  return write({&part, 1});
}

void Channel::finish() {
  if (tls_) tls_->finish();
  (void)shutdown(socket_.fd(), SHUT_WR);
}

void Channel::discard() {
  constexpr int most_reads = 1024;
  std::array<std::byte, 4096> unread;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (int i = 0; i < most_reads; ++i) {
    if (recv(socket_.fd(), unread.data(), unread.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace tutti
