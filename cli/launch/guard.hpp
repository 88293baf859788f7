#pragma once

#include <sys/types.h>

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {

/// A process that outlives this one by a moment: if this process dies in whatever way, it kills the
/// process groups that were put under guard.
///
/// The kernel can be asked to kill the children of a process that dies, but not their children.
class Guard {
 public:
  /// Before this process opens what a stranger must not hold open, and before it has threads.
  /// Without a guard, if there is no process to be had, all else still works.
  Guard();
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  void add(pid_t group) { tell(group); }
  void remove(pid_t group) { tell(-group); }

 private:
  void tell(pid_t group);

  FileDescriptor line_;
  pid_t pid_ = -1;
};

}  // namespace tutti::cli
