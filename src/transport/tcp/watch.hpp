#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>

namespace tutti {

/// What may wake a rank: sockets on which something may happen, told apart by tags.
///
/// Tells of what is new, not of how things are: a socket with data that nobody wants yet does not
/// keep the rank awake. So whoever is told of a socket must go on with it until it would block.
class Watch {
 public:
  enum class Kind : std::uint32_t { listener, stranger, dial, connection, process, bell };
  struct Tag {
    Kind kind;
    std::uint32_t index;
  };

  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Tells from now on when there is something to read, or (`room`) to write.
  void add(int fd, Tag tag, bool room);
  void change(int fd, Tag tag, bool room);
  /// Must be called before the socket is closed: a forked child may keep it open.
  void remove(int fd);

  /// Some of what is new, after at most `timeout`. Valid until the next call.
  [[nodiscard]] std::span<const epoll_event> wait(std::chrono::milliseconds timeout);
  [[nodiscard]] static Tag tag(const epoll_event& event);

  /// Becomes readable when something is new.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  static constexpr std::size_t most_events = 64;

  void control(int operation, int fd, Tag tag, bool room);

  int fd_;
  std::array<epoll_event, most_events> events_{};
};

}  // namespace tutti
