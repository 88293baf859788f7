#pragma once

#include <signal.h>

#include <stdexcept>

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {

/// The user has ended the command, by a signal or by closing its output.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal);
  [[nodiscard]] int signal() const { return signal_; }

 private:
  int signal_;
};

/// While this object lives, signals that would end or stop this process, and SIGCHLD, are blocked
/// and read from here, so that destructors can clean up. A signal that was not read takes effect
/// when this object is destroyed.
///
/// Requires: this process has no other threads yet.
class Interrupts {
 public:
  /// Throws unsupported.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// The signals that were blocked before: for programs that are started meanwhile.
  [[nodiscard]] const sigset_t& blocked_before() const { return before_; }

  /// Waits for the next signal: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP or SIGCHLD.
  [[nodiscard]] int next() const;
  /// Reads all pending signals. Throws Interrupted if one of them ends the process.
  void check() const;

 private:
  sigset_t before_{};
  struct sigaction child_before_ {};
  FileDescriptor signals_;
};

}  // namespace tutti::cli
