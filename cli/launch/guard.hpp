#pragma once

#include <sys/types.h>

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {

/// A process that outlives this one by a moment: if this process dies in whatever way, it ends the
/// process groups that were put under guard.
///
/// The kernel can be asked to kill the children of a process that dies, but not their children.
class Guard {
 public:
  /// How groups are ended.
  enum class Manner {
    at_once,  ///< SIGKILL.
    orderly,  ///< They may notice by themselves, then SIGTERM, and SIGKILL only after that.
  };

  /// Before this process opens what a stranger must not hold open, and before it has threads.
  /// Without a guard, if there is no process to be had, all else still works.
  explicit Guard(Manner manner = Manner::at_once);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// Whether there is a process that stands guard.
  [[nodiscard]] bool is_there() const { return pid_ > 0; }

  void add(pid_t group) { tell(group); }
  void remove(pid_t group) { tell(-group); }

 private:
  void tell(pid_t group);

  FileDescriptor line_;
  pid_t pid_ = -1;
};

}  // namespace tutti::cli
