#include "rendezvous/framed_channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace tutti {
namespace {

std::size_t body_length(std::string_view header) {
  std::size_t length = 0;
  for (std::size_t i = 4; i-- > 0;) length = length << 8 | static_cast<unsigned char>(header[i]);
  return length;
}

bool is_kind(char kind) { return std::string_view("jwcxgl").find(kind) != std::string_view::npos; }

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

void append(std::string& wire, Frame::Kind kind, const std::string& body) {
  for (int shift = 0; shift < 32; shift += 8) {
    wire += static_cast<char>(body.size() >> shift & 0xff);
  }
  wire += static_cast<char>(kind);
  wire += body;
}

void FramedChannel::send(Frame::Kind kind, const std::string& body) {
  std::string wire;
  append(wire, kind, body);
  send(std::make_shared<const std::string>(std::move(wire)));
}

void FramedChannel::hang_up() { channel_.finish(); }

void FramedChannel::advance() {
  write();
  if (lost_.empty()) read();
}

void FramedChannel::write() {
  while (!out_.empty() && !cannot_write_) {
    const std::string& wire = *out_.front();
    const ssize_t sent = channel_.write(wire.data() + written_, wire.size() - written_);
    if (sent < 0) {
      cannot_write_ = !would_block(errno);
      break;
    }
    written_ += static_cast<std::size_t>(sent);
    if (written_ < wire.size()) return;
    out_.pop_front();
    written_ = 0;
  }
  if (cannot_write_) out_.clear();
}

std::size_t FramedChannel::wanted() const {
  return in_.size() < header_bytes ? header_bytes : header_bytes + body_length(in_);
}

void FramedChannel::read() {
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  // Memory grows with the bytes received, not with the length that an unproven header claims.
  while (in_.size() < wanted()) {
    const std::size_t most = std::min(buffer.size(), wanted() - in_.size());
    const ssize_t received = channel_.read(buffer.data(), most);
    if (received < 0) {
      if (!would_block(errno)) lost_ = std::generic_category().message(errno);
      return;
    }
    if (received == 0) {
      lost_ = "it closed the connection";
      return;
    }
    in_.append(buffer.data(), static_cast<std::size_t>(received));
    if (in_.size() == header_bytes &&
        (body_length(in_) > Frame::most_bytes || !is_kind(in_.back()))) {
      lost_ = "it sent something that is not a frame";
      in_.clear();
      shutdown(channel_.fd(), SHUT_RDWR);
      return;
    }
  }
}

std::optional<Frame> FramedChannel::next() {
  if (in_.size() < header_bytes || in_.size() < wanted()) return std::nullopt;
  Frame frame{.kind = static_cast<Frame::Kind>(in_[4]), .body = in_.substr(header_bytes)};
  in_.clear();
  return frame;
}

}  // namespace tutti
