#include "transport/tcp/connection.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <tutti/error.hpp>

#include "transport/tcp/connection_end.hpp"

namespace tutti {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t block_bytes = ReadBlock::size;
/// From here on, consumed bytes are dropped at once rather than by the next call.
constexpr std::size_t most_unapplied = std::size_t{16} << 10;
/// With less room than this at the end of a block, the next read begins a new block.
constexpr std::size_t least_room = std::size_t{64} << 10;
/// How many closed streams are remembered: frames for them may still arrive.
constexpr std::size_t most_closed = 4096;
/// Every socket has room for so much.
constexpr std::uint64_t always_received = std::uint64_t{16} << 10;
/// Where the first header is read, so that its data begins on a cache line.
constexpr std::size_t first_place = cache_line - FrameHeader::size;

bool is_within_host(const Socket& socket) {
  const Endpoint other = connected_to(socket);
  return other.is_loopback() || other.host() == bound_to(socket).host();
}

/// Within a host nothing is lost or congested, and congestion control that paces its packets (BBR)
/// is slow. If it cannot be set, the default stays.
void choose_congestion_control(const Socket& socket) {
  if (!is_within_host(socket)) return;
  constexpr char name[] = "cubic";
  (void)setsockopt(socket.fd(), IPPROTO_TCP, TCP_CONGESTION, name, sizeof name - 1);
}

void require_call(std::uint32_t found, std::uint32_t wanted) {
  if (found == wanted) return;
  throw Error(
      ErrorCode::mismatch,
      "is in another call, or in the same call with other arguments: make the same calls in "
      "the same order on all ranks");
}

}  // namespace

Connection::Connection(Channel channel)
    : channel_(std::move(channel)),
      // With TLS, reading and writing change the same state.
      writer_(channel_, channel_.tls() != nullptr ? reading_ : writing_),
      block_(ReadBlock::make()),
      begin_(first_place),
      end_(first_place) {
  choose_congestion_control(channel_.socket());
}

std::shared_ptr<Stream> Connection::open(std::uint64_t context, StreamListener& listener) {
  const Lock lock(reading_);
  std::shared_ptr<Stream>& stream = streams_[context];
  if (!stream) stream = std::make_shared<Stream>(context);
  stream->listener_ = &listener;
  return stream;
}

/// The stream of a frame. Null if it was closed. Creates it if data arrives before this rank has
/// created the communicator.
Stream* Connection::find(std::uint64_t context) {
  if (recent_ != nullptr && recent_->context_ == context) return recent_;
  const auto found = streams_.find(context);
  if (found != streams_.end()) return recent_ = found->second.get();
  if (std::find(closed_.begin(), closed_.end(), context) != closed_.end()) return nullptr;
  return recent_ = streams_.emplace(context, std::make_shared<Stream>(context)).first->second.get();
}

void Connection::close(Stream& stream) {
  {
    const Lock lock(reading_);
    stream.listener_ = nullptr;
    stream.segments_.clear();
    stream.first_ = 0;
    stream.unapplied_ = 0;
    if (frame_of_ == &stream) frame_of_ = nullptr;
    if (recent_ == &stream) recent_ = nullptr;
    closed_.push_back(stream.context_);
    if (closed_.size() > most_closed) closed_.pop_front();
    streams_.erase(stream.context_);
  }
  writer_.copy_pending(stream);
}

// Receiving -------------------------------------------------------------------------------------

std::span<const std::byte> Connection::buffered(Stream& stream, std::uint32_t call) {
  const Lock lock(reading_);
  return first_segment(stream, call);
}

Connection::Arrival Connection::arrived(Stream& stream, std::uint32_t call, bool reads) {
  Arrival arrival;
  std::uint64_t due = 0;
  {
    const Lock lock(reading_);
    arrival.data = first_segment(stream, call);
    due = due_grant(stream);
    if (reads && arrival.data.empty()) {
      arrival.has_tried = true;
      arrival.has_read = read_once(stream);
      if (arrival.has_read) arrival.data = first_segment(stream, call);
    }
  }
  if (due > 0) writer_.send_grant(stream, due);
  return arrival;
}

std::span<const std::byte> Connection::first_segment(Stream& stream, std::uint32_t call) {
  apply_consumed(stream);
  if (stream.first_ == stream.segments_.size()) {
    require_open(read_end_);
    return {};
  }
  const Stream::Segment& segment = stream.segments_[stream.first_];
  require_call(segment.call, call);
  return {segment.data, segment.bytes};
}

/// A few bytes are dropped later, by the next call for this stream, which takes the lock anyway.
void Connection::consume(Stream& stream, std::size_t bytes) {
  stream.unapplied_ += bytes;
  if (stream.unapplied_ < most_unapplied) return;
  std::uint64_t due = 0;
  {
    const Lock lock(reading_);
    apply_consumed(stream);
    due = due_grant(stream);
  }
  if (due > 0) writer_.send_grant(stream, due);
}

void Connection::apply_consumed(Stream& stream) {
  if (stream.unapplied_ > 0) drop_first(stream, std::exchange(stream.unapplied_, 0));
}

void Connection::drop_first(Stream& stream, std::size_t bytes) {
  stream.ungranted_ += bytes;
  Stream::Segment& segment = stream.segments_[stream.first_];
  segment.data += bytes;
  segment.bytes -= bytes;
  if (segment.bytes > 0) return;
  segment.block = {};
  if (++stream.first_ < stream.segments_.size()) return;
  stream.segments_.clear();
  stream.first_ = 0;
}

/// Credit is returned in steps of half a window.
std::uint64_t Connection::due_grant(Stream& stream) {
  return stream.ungranted_ < Stream::window / 2 ? 0 : std::exchange(stream.ungranted_, 0);
}

/// Whether the peer has probably consumed enough to return credit.
bool Connection::is_grant_due(const Stream& stream) {
  return stream.granted_.load(std::memory_order_relaxed) <= stream.sent() + Stream::window / 2;
}

bool Connection::pump(const Stream& stream) {
  const Lock lock(reading_);
  return read_once(stream);
}

bool Connection::read_once(const Stream& stream) {
  if (!read_end_.empty()) return false;
  prepare_block();
  iovec part{.iov_base = block_.get() + end_, .iov_len = block_bytes - end_};
  const std::size_t came = read({&part, 1});
  end_ += came;
  parse(&stream);
  return came > 0;
}

/// Makes room to read into. Less than a cache line of unparsed bytes is moved.
void Connection::prepare_block() {
  const std::size_t left = end_ - begin_;
  const bool is_free = !block_.is_shared();
  if (!is_free && block_bytes - end_ >= least_room) return;
  const std::size_t place =
      frame_left_ > 0 ? frame_done_ % cache_line : first_place + in_header_ - skip_;
  ReadBlock next = is_free ? block_ : ReadBlock::make();
  std::memmove(next.get() + place, block_.get() + begin_, left);
  block_ = std::move(next);
  begin_ = place;
  end_ = place + left;
}

/// Distributes what was read to the streams.
void Connection::parse(const Stream* reader) {
  while (begin_ < end_) {
    if (skip_ > 0) {
      const std::size_t skipped = std::min(skip_, end_ - begin_);
      begin_ += skipped;
      skip_ -= skipped;
      continue;
    }
    if (frame_left_ == 0) {
      const std::size_t bytes = std::min(header_.size() - in_header_, end_ - begin_);
      std::memcpy(header_.data() + in_header_, block_.get() + begin_, bytes);
      in_header_ += bytes;
      begin_ += bytes;
      if (!open_frame(reader)) return;
      continue;
    }
    const std::size_t bytes = whole(std::min(end_ - begin_, frame_left_), frame_left_);
    if (bytes == 0) return;
    if (frame_of_) add_segment(*frame_of_, bytes, reader);
    begin_ += bytes;
    pass(bytes);
  }
}

/// False if the header is incomplete or invalid.
bool Connection::open_frame(const Stream* reader) {
  if (in_header_ < header_.size()) return false;
  const FrameHeader header = FrameHeader::decode(header_);
  if (!header.is_sound()) {
    read_end_ = "speaks another protocol: use one release of tutti everywhere";
    begin_ = end_;
    return false;
  }
  in_header_ = 0;
  Stream* const stream = find(header.context);
  if (header.kind == FrameHeader::Kind::grant) {
    if (stream == nullptr) return true;
    stream->granted_.fetch_add(header.bytes, std::memory_order_release);
    if (stream != reader && stream->listener_ != nullptr) stream->listener_->notify();
    return true;
  }
  frame_of_ = stream;
  frame_call_ = header.call;
  frame_left_ = header.bytes;
  frame_done_ = 0;
  frame_padding_ = header.padding();
  return true;
}

void Connection::add_segment(Stream& stream, std::size_t bytes, const Stream* reader) {
  const std::byte* const data = block_.get() + begin_;
  const bool extends = frame_done_ > 0 && stream.first_ < stream.segments_.size();
  if (extends && stream.segments_.back().data + stream.segments_.back().bytes == data) {
    stream.segments_.back().bytes += bytes;
  } else {
    stream.segments_.push_back(
        {.block = block_, .data = data, .bytes = bytes, .call = frame_call_});
  }
  if (&stream != reader && stream.listener_ != nullptr) stream.listener_->notify();
}

std::size_t Connection::receive(Stream& stream, std::span<std::byte> to, std::uint32_t call) {
  std::uint64_t due = 0;
  std::size_t moved = 0;
  {
    const Lock lock(reading_);
    apply_consumed(stream);
    moved = take_segment(stream, to, call);
    if (moved == 0) {
      require_open(read_end_);
      if (is_between_frames() && is_grant_due(stream)) receive_header(stream);
      if (begin_ == end_ && frame_left_ > 0 && frame_of_ == &stream) {
        moved = receive_more(stream, to, call);
      } else if (is_between_frames()) {
        moved = receive_first(stream, to, call);
      } else {
        prepare_block();
        iovec part{.iov_base = block_.get() + end_, .iov_len = block_bytes - end_};
        end_ += read({&part, 1});
        parse(&stream);
        moved = take_segment(stream, to, call);
      }
    }
    due = due_grant(stream);
  }
  if (due > 0) writer_.send_grant(stream, due);
  return moved;
}

/// Takes data that was read before, by any thread.
std::size_t Connection::take_segment(Stream& stream, std::span<std::byte> to, std::uint32_t call) {
  if (stream.first_ == stream.segments_.size()) return 0;
  const Stream::Segment& segment = stream.segments_[stream.first_];
  require_call(segment.call, call);
  const std::size_t bytes = std::min(segment.bytes, to.size());
  std::memcpy(to.data(), segment.data, bytes);
  drop_first(stream, bytes);
  return bytes;
}

/// Reads a header alone: if it is a grant's, data read together with it would have to be moved.
void Connection::receive_header(const Stream& stream) {
  iovec part{.iov_base = &header_[in_header_], .iov_len = header_.size() - in_header_};
  in_header_ += read({&part, 1});
  (void)open_frame(&stream);
}

/// Reads a header, and what follows it straight to `to`. If that turns out to belong elsewhere, it
/// is moved into the block.
std::size_t Connection::receive_first(Stream& stream, std::span<std::byte> to, std::uint32_t call) {
  to = to.first(std::min(to.size(), block_bytes - 2 * cache_line));
  iovec parts[2] = {{.iov_base = &header_[in_header_], .iov_len = header_.size() - in_header_},
                    {.iov_base = to.data(), .iov_len = to.size()}};
  std::size_t came = read(parts);
  const std::size_t of_header = std::min(came, header_.size() - in_header_);
  in_header_ += of_header;
  came -= of_header;
  const std::span<const std::byte> data(to.data(), came);
  if (!open_frame(&stream)) return 0;
  if (frame_left_ == 0 || frame_of_ != &stream || frame_call_ != call) {
    stash(data);
    parse(&stream);
    return take_segment(stream, to, call);
  }
  const std::size_t most = std::min(to.size(), frame_left_);
  const std::size_t moved = whole(std::min(came, most), most);
  pass(moved);
  stream.ungranted_ += moved;
  stash(data.subspan(moved));
  parse(&stream);
  return moved;
}

/// Reads more of the open frame and, if that completes it, the next header.
std::size_t Connection::receive_more(Stream& stream, std::span<std::byte> to, std::uint32_t call) {
  require_call(frame_call_, call);
  const std::size_t most = std::min(to.size(), frame_left_);
  iovec parts[2] = {{.iov_base = to.data(), .iov_len = most},
                    {.iov_base = header_.data(), .iov_len = header_.size()}};
  const bool takes_header = most == frame_left_ && frame_padding_ == 0;
  const std::size_t came = read(std::span(parts).first(takes_header ? 2 : 1));
  const std::size_t of_frame = std::min(came, most);
  const std::size_t moved = whole(of_frame, most);
  pass(moved);
  if (came > most) {
    in_header_ = came - most;
    (void)open_frame(nullptr);
  }
  stream.ungranted_ += moved;
  stash({to.data() + moved, of_frame - moved});
  return moved;
}

/// How many of the next `bytes` of the open frame can be handed out without splitting an element:
/// all of them if they are `most`.
std::size_t Connection::whole(std::size_t bytes, std::size_t most) const {
  if (bytes == most) return bytes;
  const std::size_t end = (frame_done_ + bytes) / cache_line * cache_line;
  return end > frame_done_ ? end - frame_done_ : 0;
}

void Connection::pass(std::size_t bytes) {
  frame_done_ += bytes;
  frame_left_ -= bytes;
  if (frame_left_ == 0) skip_ = std::exchange(frame_padding_, 0);
}

/// Moves bytes that were read elsewhere into the block, in which nothing is unparsed.
void Connection::stash(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t place = frame_left_ > 0 ? frame_done_ % cache_line : first_place - skip_;
  const std::size_t after = (end_ + cache_line - 1) / cache_line * cache_line + place;
  const bool is_free = !block_.is_shared();
  if (!is_free && after + bytes.size() > block_bytes) block_ = ReadBlock::make();
  begin_ = block_.is_shared() ? after : place;
  end_ = begin_ + bytes.size();
  std::memcpy(block_.get() + begin_, bytes.data(), bytes.size());
}

std::size_t Connection::read(std::span<iovec> parts) {
  require_open(read_end_);
  const ssize_t bytes = channel_.read(parts);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  read_end_ = bytes == 0 ? "has closed its connection: it has died, or has left before the others"
                         : disconnected(errno);
  has_ended_.store(true, std::memory_order_release);
  for (const auto& [context, stream] : streams_) {
    if (stream->listener_ != nullptr) stream->listener_->notify();
  }
  return 0;
}

// The end ---------------------------------------------------------------------------------------

bool Connection::is_hung_up() const {
  if (has_ended()) return true;
  pollfd socket{.fd = channel_.fd(), .events = POLLRDHUP, .revents = 0};
  constexpr int ends = POLLRDHUP | POLLHUP | POLLERR | POLLNVAL;
  return poll(&socket, 1, 0) > 0 && (socket.revents & ends) != 0;
}

/// Reads all that the system holds.
void Connection::read_rest() {
  for (std::size_t came = 1; read_end_.empty() && came > 0;) {
    prepare_block();
    iovec part{.iov_base = block_.get() + end_, .iov_len = block_bytes - end_};
    came = read({&part, 1});
    end_ += came;
    parse(nullptr);
  }
}

bool Connection::holds_data_for(std::uint64_t context) {
  const bool reads_on = is_hung_up();
  const Lock lock(reading_);
  if (reads_on) read_rest();
  const auto found = streams_.find(context);
  if (found == streams_.end()) return false;
  const Stream& stream = *found->second;
  return stream.first_ < stream.segments_.size();
}

void Connection::discard() {
  const Lock lock(reading_);
  channel_.discard();
}

void Connection::reset() {
  const Lock lock(reading_);
  read_rest();
  const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
  (void)connect(channel_.fd(), &nowhere, sizeof nowhere);
}

bool Connection::is_under_way() const {
  tcp_info info{};
  socklen_t length = sizeof info;
  const bool is_known = getsockopt(channel_.fd(), IPPROTO_TCP, TCP_INFO, &info, &length) == 0;
  if (!is_known || info.tcpi_state == TCP_CLOSE) return true;  // It has broken off.
  int waiting = 0;
  const auto which = writer_.written() <= always_received ? SIOCOUTQNSD : SIOCOUTQ;
  return ioctl(channel_.fd(), which, &waiting) != 0 || waiting == 0;
}

}  // namespace tutti
