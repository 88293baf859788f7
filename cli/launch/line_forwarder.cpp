#include "cli/launch/line_forwarder.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"

namespace tutti::cli {
namespace {

/// The longest line that is buffered until it is complete.
constexpr std::size_t most_held = 64 << 10;
constexpr std::size_t chunk_bytes = 64 << 10;
/// The time that all others wait for the rest of a longer line.
constexpr int patience_ms = 1000;

FileDescriptor opened(int fd) {
  if (fd < 0) {
    throw Error(ErrorCode::invalid_argument,
                "cannot watch the output of the ranks: " + std::generic_category().message(errno));
  }
  return FileDescriptor(fd);
}

void ring(const FileDescriptor& bell) {
  const std::uint64_t one = 1;
  // Fails only if it is readable already.
  [[maybe_unused]] const ssize_t written = ::write(bell.number(), &one, sizeof one);
}

/// Returns 0 or errno.
int write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(fd, data.data(), data.size());
    if (written >= 0) {
      data.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // Another process has made the file non-blocking.
      pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

LineForwarder::LineForwarder()
    : chunk_(chunk_bytes),
      epoll_(opened(::epoll_create1(EPOLL_CLOEXEC))),
      wake_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      news_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, wake_.number(), &event);
}

LineForwarder::~LineForwarder() {
  if (!thread_.joinable()) return;
  finish();
  thread_.join();
}

void LineForwarder::add(Source source) {
  Stream& stream = streams_.emplace_back(Stream{{std::move(source)}});
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &stream}};
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, stream.from.number(), &event) != 0) opened(-1);
  ++open_;
}

void LineForwarder::start() {
  thread_ = std::thread([this] { forward(); });
}

void LineForwarder::finish() { ring(wake_); }

void LineForwarder::heard() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(news_.number(), &count, sizeof count);
}

void LineForwarder::tell() { ring(news_); }

void LineForwarder::forward() {
  while (open_ > 0 && !finishing_) {
    if (floor_ != nullptr) {
      serve_floor();
    } else {
      wait_and_serve();
    }
  }
  drain();
  done_ = true;
  tell();
}

void LineForwarder::wait_and_serve() {
  std::array<epoll_event, 64> events{};
  const int ready = ::epoll_wait(epoll_.number(), events.data(), events.size(), -1);
  for (int i = 0; i < ready && floor_ == nullptr; ++i) {
    if (events[i].data.ptr == nullptr) {
      finishing_ = true;
    } else {
      serve(*static_cast<Stream*>(events[i].data.ptr));
    }
  }
}

void LineForwarder::serve_floor() {
  std::array<pollfd, 2> fds{{{.fd = floor_->from.number(), .events = POLLIN, .revents = 0},
                             {.fd = wake_.number(), .events = POLLIN, .revents = 0}}};
  const int ready = ::poll(fds.data(), fds.size(), patience_ms);
  if (ready == 0) {
    out_ += '\n';
    flush(*floor_);
    floor_->mid_line = false;
    floor_ = nullptr;
    return;
  }
  if (fds[1].revents != 0) finishing_ = true;
  if (fds[0].revents != 0) serve(*floor_);
}

void LineForwarder::serve(Stream& stream) {
  const ssize_t got = ::read(stream.from.number(), chunk_.data(), chunk_.size());
  if (got > 0) {
    take(stream, {chunk_.data(), static_cast<std::size_t>(got)});
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    end(stream);
  }
}

void LineForwarder::drain() {
  // First the source within a line, or other text would split that line.
  if (floor_ != nullptr) drain(*floor_);
  for (Stream& each : streams_) drain(each);
}

void LineForwarder::drain(Stream& stream) {
  while (stream.from) {
    const ssize_t got = ::read(stream.from.number(), chunk_.data(), chunk_.size());
    if (got > 0) {
      take(stream, {chunk_.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || errno != EINTR) {
      end(stream);
    }
  }
}

void LineForwarder::end(Stream& stream) {
  if (!stream.held.empty()) begin_line(stream);
  if (stream.mid_line) {
    out_ += '\n';
    flush(stream);
  }
  stream.mid_line = false;
  if (floor_ == &stream) floor_ = nullptr;
  stream.copy.close();
  stream.from.close();  // Removes it from epoll, too.
  --open_;
}

void LineForwarder::take(Stream& stream, std::string_view bytes) {
  copy(stream, bytes);
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline == bytes.npos ? newline : newline + 1);
    bytes.remove_prefix(piece.size());
    const bool whole = newline != std::string_view::npos;
    if (!whole && !stream.mid_line && stream.held.size() + piece.size() <= most_held) {
      stream.held += piece;
      break;
    }
    begin_line(stream);
    out_ += piece;
    if (whole) stream.mid_line = false;
  }
  floor_ = stream.mid_line ? &stream : nullptr;
  flush(stream);
}

/// Writes the prefix and the buffered beginning of the line.
void LineForwarder::begin_line(Stream& stream) {
  if (!stream.mid_line) out_ += stream.prefix;
  stream.mid_line = true;
  out_ += stream.held;
  stream.held.clear();
}

void LineForwarder::copy(Stream& stream, std::string_view bytes) {
  if (!stream.copy) return;
  const int error = write_all(stream.copy.number(), bytes);
  if (error == 0) return;
  // The job continues without its copy.
  has_lost_copy_ = true;
  out_ += "tutti run: cannot write to '" + stream.copy_name + "': " + system_reason(error) + "\n";
  flush(stream);
  stream.copy.close();
}

void LineForwarder::flush(const Stream& stream) {
  if (error_ == 0) {
    const int error = write_all(stream.to, out_);
    if (error != 0) {
      error_ = error;
      tell();
    }
  }
  out_.clear();
}

}  // namespace tutti::cli
