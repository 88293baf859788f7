#pragma once

namespace tutti {

/// Descriptors that children do not keep: a child closes them as soon as it is forked, before
/// fork() returns in it. A connection that a child held would outlive the rank it belongs to, and
/// the peers would not notice that the rank is gone.
class UnsharedDescriptors {
 public:
  /// A child that is forked from now on closes this one.
  static void add(int fd);
  /// Must be called before the descriptor is closed: its number may then mean something else.
  static void remove(int fd);
};

}  // namespace tutti
