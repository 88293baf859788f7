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

bool is_kind(char kind) {
  return std::string_view("jwcxgldo").find(kind) != std::string_view::npos;
}

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

bool FramedChannel::has_frame() const {
  const std::size_t bytes = in_.size() - taken_;
  return bytes >= header_bytes &&
         bytes - header_bytes >= body_length(std::string_view(in_).substr(taken_));
}

/// Refuses what is not the header of a frame.
bool FramedChannel::is_sound() const {
  const std::string_view frame = std::string_view(in_).substr(taken_);
  return frame.size() < header_bytes ||
         (body_length(frame) <= Frame::most_bytes && is_kind(frame[header_bytes - 1]));
}

void FramedChannel::read() {
  std::array<char, 8192> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  // Memory grows with the bytes received, not with the length that an unproven header claims.
  while (!has_frame()) {
    const ssize_t received = channel_.read(buffer.data(), buffer.size());
    if (received < 0) {
      if (!would_block(errno)) lost_ = std::generic_category().message(errno);
      return;
    }
    if (received == 0) {
      lost_ = "it closed the connection";
      return;
    }
    in_.append(buffer.data(), static_cast<std::size_t>(received));
    if (!is_sound()) return refuse();
  }
}

void FramedChannel::refuse() {
  lost_ = "it sent something that is not a frame";
  in_.clear();
  taken_ = 0;
  shutdown(channel_.fd(), SHUT_RDWR);
}

std::optional<Frame> FramedChannel::next() {
  if (!has_frame()) return std::nullopt;
  const std::string_view frame = std::string_view(in_).substr(taken_);
  const std::size_t length = body_length(frame);
  Frame found{.kind = static_cast<Frame::Kind>(frame[header_bytes - 1]),
              .body = std::string(frame.substr(header_bytes, length))};
  taken_ += header_bytes + length;
  if (taken_ == in_.size()) {
    in_.clear();
    taken_ = 0;
  } else if (taken_ > in_.size() / 2) {
    in_.erase(0, taken_);
    taken_ = 0;
  }
  if (!is_sound()) refuse();
  return found;
}

}  // namespace tutti
