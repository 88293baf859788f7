#pragma once

#include <signal.h>

#include <stdexcept>

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {

/// The user wants all this to end, by a signal or by reading no more.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal);
  [[nodiscard]] int signal() const { return signal_; }

 private:
  int signal_;
};

/// While it lives, signals that would end or stop this process, and that a child has ended, wait to
/// be read. So nothing is left behind that a destructor removes: a signal that nobody has read by
/// the end of this does what it would have done.
///
/// For one thread, before there are others.
class Interrupts {
 public:
  /// Throws unsupported.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Which signals were blocked before: for programs that are started meanwhile.
  [[nodiscard]] const sigset_t& blocked_before() const { return before_; }

  /// The next signal: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP or SIGCHLD. Waits for it.
  [[nodiscard]] int next() const;
  /// Throws Interrupted if a signal that ends the process has come. Reads those that have.
  void check() const;

 private:
  sigset_t before_{};
  struct sigaction child_before_ {};
  FileDescriptor signals_;
};

}  // namespace tutti::cli
