#include "transport/tcp/connection.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <tutti/error.hpp>

namespace tutti {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t buffer_bytes = std::size_t{256} << 10;

/// The longest element, whose place in memory must suit the CPU.
constexpr std::size_t alignment = 8;

bool is_within_host(const Socket& socket) {
  const Endpoint other = connected_to(socket);
  return other.is_loopback() || other.host() == bound_to(socket).host();
}

/// Nothing gets lost or congested within a host, and some algorithms that pace what they send are
/// slow there. Where it cannot be chosen, it stays as it is.
void choose_congestion_control(const Socket& socket) {
  if (!is_within_host(socket)) return;
  constexpr char name[] = "cubic";
  (void)setsockopt(socket.fd(), IPPROTO_TCP, TCP_CONGESTION, name, sizeof name - 1);
}

std::string reason(int error) {
  return "is no longer connected (" + std::generic_category().message(error) +
         "): it has died, or the network between is broken";
}

}  // namespace

Connection::Connection(Channel channel, std::string peer)
    : channel_(std::move(channel)),
      peer_(std::move(peer)),
      // Not a page of it is touched before data needs it.
      memory_(new std::byte[buffer_bytes + cache_line]) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
  buffer_ = memory_.get() + (cache_line - address % cache_line) % cache_line;
  choose_congestion_control(channel_.socket());
}

void Connection::send(std::span<const std::byte> data, std::uint32_t call) {
  const FrameHeader header{.bytes = static_cast<std::uint32_t>(data.size()), .call = call};
  out_header_ = header.encode();
  header_left_ = out_header_.size();
  pending_ = data;
  sent_ += data.size();
  flush();
}

void Connection::flush() {
  require(write_end_);
  if (!is_pending()) return;
  iovec parts[2] = {
      {.iov_base = out_header_.data() + out_header_.size() - header_left_, .iov_len = header_left_},
      {.iov_base = const_cast<std::byte*>(pending_.data()), .iov_len = pending_.size()}};
  const ssize_t written = channel_.write(std::span(parts).subspan(header_left_ > 0 ? 0 : 1));
  if (written < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    forget_pending();
    write_end_ = reason(errno);
    require(write_end_);
  }
  const auto bytes = static_cast<std::size_t>(written);
  const std::size_t of_header = std::min(bytes, header_left_);
  header_left_ -= of_header;
  pending_ = pending_.subspan(bytes - of_header);
}

std::span<const std::byte> Connection::buffered(std::uint32_t call) {
  if (!open_frame(call)) return {};
  const std::size_t here = std::min(end_of_ - begin_, frame_left_);
  return {buffer_ + begin_, whole(here, frame_left_)};
}

void Connection::consume(std::size_t bytes) {
  begin_ += bytes;
  pass(bytes);
}

bool Connection::fill() {
  // What is left over is less than a cache line, and goes where its frame is aligned: payload
  // begins on a cache line.
  const std::size_t left = end_of_ - begin_;
  const std::size_t place =
      frame_left_ > 0 ? frame_done_ % cache_line : cache_line - FrameHeader::size + in_header_;
  std::memmove(buffer_ + place, buffer_ + begin_, left);
  begin_ = place;
  end_of_ = place + left;
  iovec part{.iov_base = buffer_ + end_of_, .iov_len = buffer_bytes - end_of_};
  const std::size_t bytes = read({&part, 1});
  end_of_ += bytes;
  return bytes > 0;
}

std::size_t Connection::receive(std::span<std::byte> to, std::uint32_t call) {
  if (!open_frame(call)) return receive_first(to, call);
  const std::size_t most = std::min(to.size(), frame_left_);
  const std::size_t bytes = whole(std::min(end_of_ - begin_, most), most);
  if (bytes == 0) return receive_more(to.first(most));
  std::memcpy(to.data(), buffer_ + begin_, bytes);
  consume(bytes);
  return bytes;
}

/// A header is still to come. What follows it is taken to belong to the frame; what does not is
/// put into the buffer afterwards.
std::size_t Connection::receive_first(std::span<std::byte> to, std::uint32_t call) {
  to = to.first(std::min(to.size(), buffer_bytes - 2 * cache_line));
  iovec parts[2] = {{.iov_base = &header_[in_header_], .iov_len = header_.size() - in_header_},
                    {.iov_base = to.data(), .iov_len = to.size()}};
  std::size_t bytes = read(parts);
  const std::size_t of_header = std::min(bytes, header_.size() - in_header_);
  in_header_ += of_header;
  bytes -= of_header;
  if (bytes == 0) return 0;
  const std::span<const std::byte> came(to.data(), bytes);
  if (FrameHeader::decode(header_).call != call) keep(came);
  (void)open_frame(call);
  const std::size_t most = std::min(to.size(), frame_left_);
  const std::size_t moved = whole(std::min(bytes, most), most);
  pass(moved);
  keep(came.subspan(moved));
  return moved;
}

/// More of the open frame and, if that is its end, the header of the next.
std::size_t Connection::receive_more(std::span<std::byte> to) {
  const std::size_t torn = end_of_ - begin_;
  std::memcpy(to.data(), buffer_ + begin_, torn);
  iovec parts[2] = {{.iov_base = to.data() + torn, .iov_len = to.size() - torn},
                    {.iov_base = header_.data(), .iov_len = header_.size()}};
  const std::size_t bytes = read(std::span(parts).first(to.size() == frame_left_ ? 2 : 1));
  if (bytes == 0) return 0;
  const std::size_t of_frame = std::min(bytes, to.size() - torn);
  in_header_ = bytes - of_frame;
  const std::size_t moved = whole(torn + of_frame, to.size());
  pass(moved);
  keep({to.data() + moved, torn + of_frame - moved});
  return moved;
}

bool Connection::open_frame(std::uint32_t call) {
  if (frame_left_ > 0) return true;
  take_header();
  if (in_header_ < header_.size()) return false;
  const FrameHeader header = FrameHeader::decode(header_);
  if (header.bytes == 0 || header.bytes > FrameHeader::most_bytes) {
    read_end_ = "speaks another protocol: use one release of tutti everywhere";
    require(read_end_);
  }
  if (header.call != call) {
    throw Error(ErrorCode::mismatch, peer_ +
                                         " is in another call, or in the same with other "
                                         "arguments: let all ranks call the same, in one order");
  }
  in_header_ = 0;
  frame_left_ = header.bytes;
  frame_done_ = 0;
  align();
  return true;
}

void Connection::take_header() {
  const std::size_t bytes = std::min(header_.size() - in_header_, end_of_ - begin_);
  std::memcpy(header_.data() + in_header_, buffer_ + begin_, bytes);
  in_header_ += bytes;
  begin_ += bytes;
}

/// After a frame of odd length the next must be moved, so that its elements are where CPUs and
/// compilers expect them.
void Connection::align() {
  if (begin_ % alignment == 0) return;
  const std::size_t left = end_of_ - begin_;
  std::memmove(buffer_, buffer_ + begin_, left);
  begin_ = 0;
  end_of_ = left;
}

/// How many of the next `bytes` of the open frame can be shown without tearing an element: all if
/// they are the `most` there can be.
std::size_t Connection::whole(std::size_t bytes, std::size_t most) const {
  if (bytes == most) return bytes;
  const std::size_t end = (frame_done_ + bytes) / cache_line * cache_line;
  return end > frame_done_ ? end - frame_done_ : 0;
}

void Connection::pass(std::size_t bytes) {
  frame_done_ += bytes;
  frame_left_ -= bytes;
}

/// Puts what was read too much into the buffer, which has nothing else.
void Connection::keep(std::span<const std::byte> bytes) {
  begin_ = frame_left_ > 0 ? frame_done_ % cache_line : cache_line - FrameHeader::size;
  end_of_ = begin_ + bytes.size();
  std::memcpy(buffer_ + begin_, bytes.data(), bytes.size());
}

std::size_t Connection::read(std::span<iovec> parts) {
  require(read_end_);
  const ssize_t bytes = channel_.read(parts);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  read_end_ = bytes == 0 ? "has closed its connection: it has died, or has left before the others"
                         : reason(errno);
  require(read_end_);
  return 0;
}

void Connection::require(const std::string& end) const {
  if (!end.empty()) throw Error(ErrorCode::peer_lost, peer_ + " " + end);
}

void Connection::forget_pending() {
  header_left_ = 0;
  pending_ = {};
}

void Connection::finish() {
  forget_pending();
  channel_.finish();
}

bool Connection::is_under_way() const {
  tcp_info info{};
  socklen_t length = sizeof info;
  const bool is_known = getsockopt(channel_.fd(), IPPROTO_TCP, TCP_INFO, &info, &length) == 0;
  int unsent = 0;
  if (!is_known || info.tcpi_state == TCP_CLOSE) return true;  // It has broken off.
  return ioctl(channel_.fd(), SIOCOUTQNSD, &unsent) != 0 || unsent == 0;
}

}  // namespace tutti
