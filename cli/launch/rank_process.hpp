#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/console/standard_output.hpp"

namespace tutti::cli {

/// How a process ended, as waitpid() tells it.
struct Ending {
  int status = 0;

  [[nodiscard]] bool failed() const { return status != 0; }
  /// 0 if it exited.
  [[nodiscard]] int signal() const;
  /// As a shell gives it: 128 + signal if it was killed by one.
  [[nodiscard]] int exit_code() const;
  /// "exited with code 3", "was killed by SIGSEGV (segmentation fault)".
  [[nodiscard]] std::string text() const;
};

/// "SIGTERM"
[[nodiscard]] std::string signal_name(int signal);

/// Where a program is that was named as to a shell, and errno if it cannot be executed.
struct ProgramFile {
  std::string path;
  int error = 0;
};
[[nodiscard]] ProgramFile find_program(const std::string& name);

/// What this process came with and a rank gets back, whatever the launcher has set for itself.
struct Inheritance {
  sigset_t blocked{};
  struct sigaction broken_pipe {};
  struct sigaction too_large = file_size_action_before();
  rlimit files{};
};

/// All that a rank is started with.
struct RankStart {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int in = -1;  ///< Becomes its standard input; those below its output.
  int out = -1;
  int err = -1;
  int kept = -1;                    ///< Is open in the rank as well, under the same number.
  const cpu_set_t* cpus = nullptr;  ///< Where it may run; anywhere if null.
  const Inheritance* inheritance = nullptr;
  int death_signal = SIGKILL;  ///< What it gets when this process dies; 0: nothing.
};

struct Started {
  pid_t pid = -1;
  int error = 0;  ///< errno of what failed; 0 if it runs.
};

/// Starts a program in a process group of its own that dies with this process, even if that is
/// killed, unless it is told otherwise. Returns when the program runs or cannot.
[[nodiscard]] Started start_rank(const RankStart& start);

}  // namespace tutti::cli
