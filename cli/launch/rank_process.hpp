#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/console/standard_output.hpp"
#include "cli/launch/environment.hpp"

namespace tutti::cli {

/// The end of a process, as waitpid() reports it.
struct Ending {
  int status = 0;

  [[nodiscard]] bool failed() const { return status != 0; }
  /// The signal that killed it; 0 if it exited.
  [[nodiscard]] int signal() const;
  /// As in a shell: 128 + signal if it was killed.
  [[nodiscard]] int exit_code() const;
  /// "exited with code 3", "was killed by SIGSEGV (segmentation fault)".
  [[nodiscard]] std::string text() const;
};

/// "SIGTERM"
[[nodiscard]] std::string signal_name(int signal);

/// The path of a program, found as a shell does, and errno if it cannot be executed.
struct ProgramFile {
  std::string path;
  int error = 0;
};
[[nodiscard]] ProgramFile find_program(const std::string& name);

/// The signals and limits of this process on entry, which the ranks get.
struct Inheritance {
  sigset_t blocked{};
  struct sigaction broken_pipe {};
  struct sigaction too_large = file_size_action_before();
  rlimit files{};
};

/// How to start a rank.
struct RankStart {
  std::string path{};
  std::vector<std::string> words{};  ///< The arguments, and before them the name of the program.
  Environment environment = Environment::own();
  int in = -1;  ///< Its standard input. The next two are its output.
  int out = -1;
  int err = -1;
  int kept = -1;                    ///< Stays open in the rank under the same number.
  const cpu_set_t* cpus = nullptr;  ///< Where it may run; null: anywhere.
  int death_signal = SIGKILL;       ///< Sent to it when this process dies; 0: none.
};

struct Started {
  pid_t pid = -1;
  int error = 0;  ///< 0 if the program runs.
};

/// Starts a program in a new process group. It dies with this process, even if this process is
/// killed, unless death_signal is 0. Returns when the program runs or has failed to start.
[[nodiscard]] Started start_rank(RankStart start, const Inheritance& inheritance);

}  // namespace tutti::cli
