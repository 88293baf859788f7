#pragma once

#include <sys/types.h>

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {

/// A helper process that outlives this one for a moment. When this process dies, for any reason,
/// the helper ends the process groups that were added.
///
/// PR_SET_PDEATHSIG kills only children of a process that dies, not their children.
class Guard {
 public:
  /// How groups are ended.
  enum class Manner {
    at_once,  ///< SIGKILL.
    orderly,  ///< Wait, then SIGTERM, then SIGKILL.
  };

  /// Requires: this process has no threads yet, and has not opened files that the helper must not
  /// inherit. If the helper cannot be started, all else still works.
  explicit Guard(Manner manner = Manner::at_once);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// True if the helper process runs.
  [[nodiscard]] bool is_there() const { return pid_ > 0; }

  void add(pid_t group) { tell(group); }
  void remove(pid_t group) { tell(-group); }

 private:
  void tell(pid_t group);

  FileDescriptor line_;
  pid_t pid_ = -1;
};

}  // namespace tutti::cli
