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
/// Thread-safe: what is new is told to one thread.
class Watch {
 public:
  enum class Kind : std::uint32_t { listener, unauthenticated, dial, connection, process, bell };
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
  /// Tells as long as there is something to read.
  void add_lasting(int fd, Tag tag);
  void change(int fd, Tag tag, bool room);
  /// Must be called before the socket is closed: a forked child may keep it open.
  void remove(int fd);

  /// Some of what is new, as far as there is place for it, after at most `timeout`.
  using Events = std::array<epoll_event, 64>;
  [[nodiscard]] std::span<const epoll_event> wait(std::chrono::milliseconds timeout,
                                                  Events& events) const;
  [[nodiscard]] static Tag tag(const epoll_event& event);

 private:
  void control(int operation, int fd, Tag tag, std::uint32_t events);

  int fd_;
};

}  // namespace tutti
