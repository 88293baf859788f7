#include "transport/tcp/frame_writer.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <tutti/error.hpp>

#include "transport/tcp/connection_end.hpp"

namespace tutti {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::array<std::byte, 8> zeros{};

}  // namespace

FrameWriter::Taken FrameWriter::send(Stream& stream, std::span<const std::byte> data,
                                     std::uint32_t call) {
  const Lock lock(mutex_);
  if (!write_pending()) return {.bytes = 0, .is_pending = true};
  const std::uint64_t before = stream.sent();
  const std::uint64_t credit = stream.granted_.load(std::memory_order_acquire) - before;
  std::size_t bytes = std::min(data.size(), FrameHeader::most_bytes);
  if (bytes > credit) bytes = credit / cache_line * cache_line;
  if (bytes == 0) return {};
  const FrameHeader header{
      .bytes = static_cast<std::uint32_t>(bytes), .call = call, .context = stream.context_};
  header_ = header.encode();
  header_left_ = header_.size();
  padding_left_ = header.padding();
  pending_ = data.first(bytes);
  pending_of_ = &stream;
  stream.sent_.store(before + bytes, std::memory_order_relaxed);
  return {.bytes = bytes, .is_pending = !write_pending()};
}

bool FrameWriter::flush() {
  const Lock lock(mutex_);
  return write_pending();
}

void FrameWriter::copy_pending(Stream& stream) {
  const Lock lock(mutex_);
  if (pending_of_ != &stream) return;
  // pending_ may point into copy_ already.
  std::vector<std::byte> copy(pending_.begin(), pending_.end());
  copy_ = std::move(copy);
  pending_ = copy_;
  pending_of_ = nullptr;
  stream.released_.store(stream.sent(), std::memory_order_release);
}

void FrameWriter::send_grant(const Stream& stream, std::uint64_t bytes) {
  const Lock lock(mutex_);
  const FrameHeader header{.kind = FrameHeader::Kind::grant,
                           .bytes = static_cast<std::uint32_t>(bytes),
                           .context = stream.context_};
  const auto raw = header.encode();
  control_.insert(control_.end(), raw.begin(), raw.end());
  try {
    (void)write_pending();
  } catch (const Error&) {
    // The peer is gone: the next send to it, or receive from it, throws.
  }
}

void FrameWriter::finish() {
  const Lock lock(mutex_);
  drop_pending();
  channel_.finish();
}

bool FrameWriter::is_pending() const {
  return header_left_ + pending_.size() + padding_left_ + control_.size() > 0;
}

/// A frame is accepted only when nothing is pending, so grants always follow the pending frame.
bool FrameWriter::write_pending() {
  require_open(end_);
  if (!is_pending()) return true;
  std::array<iovec, 4> parts{};
  std::size_t count = 0;
  const auto add = [&](const std::byte* data, std::size_t bytes) {
    if (bytes > 0) parts[count++] = {.iov_base = const_cast<std::byte*>(data), .iov_len = bytes};
  };
  add(header_.data() + header_.size() - header_left_, header_left_);
  add(pending_.data(), pending_.size());
  add(zeros.data(), padding_left_);
  add(control_.data() + control_written_, control_.size() - control_written_);
  const ssize_t written = channel_.write(std::span(parts).first(count));
  if (written < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    end_ = disconnected(errno);
    has_ended_.store(true, std::memory_order_release);
    drop_pending();
    require_open(end_);
  }
  auto bytes = static_cast<std::size_t>(written);
  written_.store(written_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  const auto take = [&](std::size_t left) {
    const std::size_t done = std::min(bytes, left);
    bytes -= done;
    return done;
  };
  header_left_ -= take(header_left_);
  pending_ = pending_.subspan(take(pending_.size()));
  padding_left_ -= take(padding_left_);
  control_written_ += bytes;
  if (pending_of_ != nullptr) {
    pending_of_->released_.store(pending_of_->sent() - pending_.size(), std::memory_order_release);
    if (header_left_ + pending_.size() == 0) pending_of_ = nullptr;
  }
  if (control_written_ == control_.size()) {
    control_.clear();
    control_written_ = 0;
  }
  return !is_pending();
}

void FrameWriter::drop_pending() {
  header_left_ = padding_left_ = 0;
  pending_ = {};
  pending_of_ = nullptr;
  control_.clear();
  control_written_ = 0;
}

}  // namespace tutti
