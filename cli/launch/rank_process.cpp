#include "cli/launch/rank_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/launch/file_descriptor.hpp"

namespace tutti::cli {
namespace {

/// In the child: reports errno and exits. Uses only calls that are safe between fork and exec.
[[noreturn]] void give_up(int report) {
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

/// The parent may have died before the death signal was set, which then never comes.
void die_with(pid_t parent, int signal, int report) {
  if (::prctl(PR_SET_PDEATHSIG, signal) != 0) give_up(report);
  if (::getppid() != parent) ::_exit(127);
}

/// Makes `from` the standard file `to`. Requires: `from` is not another standard file, which an
/// earlier call could have overwritten.
void put(int from, int to, int report) {
  // dup2 of a file onto itself keeps O_CLOEXEC, and exec would close it.
  const int done = from == to ? ::fcntl(to, F_SETFD, 0) : ::dup2(from, to);
  if (done < 0) give_up(report);
}

/// What become() needs, without memory to be allocated.
struct Exec {
  std::vector<char*> arguments;
  std::vector<char*> environment;
};

[[noreturn]] void become(const RankStart& start, const Exec& exec, const Inheritance& inheritance,
                         pid_t parent, int report) {
  die_with(parent, start.death_signal, report);
  if (::setpgid(0, 0) != 0) give_up(report);
  put(start.in, STDIN_FILENO, report);
  put(start.out, STDOUT_FILENO, report);
  put(start.err, STDERR_FILENO, report);
  if (start.kept >= 0 && ::fcntl(start.kept, F_SETFD, 0) != 0) give_up(report);
  if (start.cpus != nullptr && ::sched_setaffinity(0, sizeof *start.cpus, start.cpus) != 0) {
    give_up(report);
  }
  ::setrlimit(RLIMIT_NOFILE, &inheritance.files);
  ::sigaction(SIGPIPE, &inheritance.broken_pipe, nullptr);
  ::sigaction(SIGXFSZ, &inheritance.too_large, nullptr);
  ::sigprocmask(SIG_SETMASK, &inheritance.blocked, nullptr);
  ::execve(start.path.c_str(), exec.arguments.data(), exec.environment.data());
  give_up(report);
}

bool is_program(const std::string& path) {
  struct stat what {};
  return ::stat(path.c_str(), &what) == 0 && S_ISREG(what.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

int Ending::signal() const { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

int Ending::exit_code() const {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string Ending::text() const {
  if (!WIFSIGNALED(status)) return "exited with code " + std::to_string(WEXITSTATUS(status));
  std::string text = "was killed by " + signal_name(WTERMSIG(status));
  if (const char* const what = ::sigdescr_np(WTERMSIG(status)); what != nullptr) {
    std::string words = what;
    words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
    text += " (" + words + ")";
  }
  return WCOREDUMP(status) ? text + ", core dumped" : text;
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

ProgramFile find_program(const std::string& name) {
  if (name.empty()) return {.path = name, .error = ENOENT};
  if (name.find('/') != std::string::npos) return {.path = name};
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  int error = ENOENT;
  while (true) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    const std::string path = (directory.empty() ? "." : std::string(directory)) + "/" + name;
    if (is_program(path)) return {.path = path};
    if (::access(path.c_str(), F_OK) == 0) error = EACCES;
    if (directory.size() == rest.size()) return {.path = name, .error = error};
    rest.remove_prefix(directory.size() + 1);
  }
}

Started start_rank(RankStart start, const Inheritance& inheritance) {
  Pipe report;
  if (!report) return {.error = errno};
  const Exec exec{.arguments = exec_pointers(start.words),
                  .environment = start.environment.pointers()};
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return {.error = errno};
  if (pid == 0) become(start, exec, inheritance, parent, report.write.number());
  // exec closes the child's end, so reading finds the end of file if all went well.
  report.write.close();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(report.read.number(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return {.pid = pid};
  ::waitpid(pid, nullptr, 0);
  return {.error = error};
}

}  // namespace tutti::cli
