#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>

namespace tutti {

/// An epoll set. Each descriptor has a tag.
///
/// Edge-triggered, so that a socket with data that the rank does not want yet does not keep it
/// awake. After an event, read or write the socket until it would block.
/// Thread-safe: an event is delivered to one thread.
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

  /// Watches for new data and, if `room`, for space to write.
  void add(int fd, Tag tag, bool room);
  /// Watches for data, level-triggered.
  void add_lasting(int fd, Tag tag);
  void change(int fd, Tag tag, bool room);
  /// Call before the socket is closed: a forked child may still hold it open, which would keep it
  /// in the epoll set.
  void remove(int fd);

  /// Waits for events, at most `timeout`, and returns as many as fit in `events`.
  using Events = std::array<epoll_event, 64>;
  [[nodiscard]] std::span<const epoll_event> wait(std::chrono::milliseconds timeout,
                                                  Events& events) const;
  [[nodiscard]] static Tag tag(const epoll_event& event);

 private:
  void control(int operation, int fd, Tag tag, std::uint32_t events);

  int fd_;
};

}  // namespace tutti
