#include "net/watch.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"

namespace tutti {
namespace {

constexpr auto new_data = static_cast<std::uint32_t>(EPOLLIN) | static_cast<std::uint32_t>(EPOLLET);
constexpr auto writable = static_cast<std::uint32_t>(EPOLLOUT);

}  // namespace

Watch::Watch() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (fd_ < 0) {
    throw Error(ErrorCode::unsupported, "cannot create an epoll set: " + system_reason(errno));
  }
}

Watch::~Watch() { close(fd_); }

void Watch::add(int fd, Tag tag, bool room) {
  control(EPOLL_CTL_ADD, fd, tag, new_data | (room ? writable : 0));
}

void Watch::add_lasting(int fd, Tag tag) { control(EPOLL_CTL_ADD, fd, tag, EPOLLIN); }

void Watch::change(int fd, Tag tag, bool room) {
  control(EPOLL_CTL_MOD, fd, tag, new_data | (room ? writable : 0));
}

void Watch::remove(int fd) { epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr); }

std::span<const epoll_event> Watch::wait(std::chrono::milliseconds timeout, Events& events) const {
  const int count = epoll_wait(fd_, events.data(), static_cast<int>(events.size()),
                               static_cast<int>(timeout.count()));
  return {events.data(), static_cast<std::size_t>(count > 0 ? count : 0)};
}

Watch::Tag Watch::tag(const epoll_event& event) {
  return {.kind = static_cast<Kind>(event.data.u64 >> 32),
          .index = static_cast<std::uint32_t>(event.data.u64)};
}

void Watch::control(int operation, int fd, Tag tag, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = static_cast<std::uint64_t>(tag.kind) << 32 | tag.index;
  if (epoll_ctl(fd_, operation, fd, &event) == 0) return;
  throw Error(ErrorCode::internal,
              "cannot add a socket to epoll: " + std::generic_category().message(errno));
}

}  // namespace tutti
