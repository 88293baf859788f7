#pragma once

#include <initializer_list>
#include <stdexcept>

#include "cli/launch/file_descriptor.hpp"
#include "cli/launch/rank_process.hpp"

namespace tutti::cli {

/// Signals that are read from here instead of taking effect. They stay blocked after this object.
///
/// Requires: this process has no other threads yet.
class Signals {
 public:
  /// Throws unsupported.
  explicit Signals(std::initializer_list<int> heard);
  ~Signals() = default;
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Readable when a signal is pending.
  [[nodiscard]] int file() const { return file_.number(); }
  /// The next pending signal; 0 if there is none.
  [[nodiscard]] int take() const;
  /// What programs that are started inherit: the signals and limits as this process got them.
  [[nodiscard]] const Inheritance& inheritance() const { return inheritance_; }

 protected:
  struct sigaction child_before_ {};

 private:
  FileDescriptor file_;
  Inheritance inheritance_;
};

/// Stops this process, as SIGTSTP would have done if it were not blocked.
void stop_self();

/// The user has ended the command, by a signal or by closing its output.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal);
  [[nodiscard]] int signal() const { return signal_; }

 private:
  int signal_;
};

/// While this object lives, signals that would end or stop this process, and SIGCHLD, are read from
/// here, so that destructors can clean up. A signal that was not read takes effect when this object
/// is destroyed.
class Interrupts : public Signals {
 public:
  Interrupts();
  ~Interrupts();

  /// Waits for the next signal: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP or SIGCHLD.
  [[nodiscard]] int next() const;
  /// Reads all pending signals. Throws Interrupted if one of them ends the process.
  void check() const;
};

}  // namespace tutti::cli
