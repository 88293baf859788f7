#pragma once

namespace tutti {

/// File descriptors that a forked child closes before fork() returns in it. If a child kept a
/// connection open, the connection would outlive its rank, and the peers would not notice that the
/// rank is gone.
class UnsharedDescriptors {
 public:
  /// Registers the descriptor: children forked from now on close it.
  static void add(int fd);
  /// Must be called before the descriptor is closed, because its number may be reused.
  static void remove(int fd);
};

}  // namespace tutti
