#include "support/forked_child.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

namespace {

bool is_forked_child = false;

}  // namespace

/// Called by LeakSanitizer. A forked child lacks the threads whose stacks refer to their memory, so
/// LeakSanitizer would report that memory.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() { return is_forked_child ? 1 : 0; }

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto child_patience = 10s;

std::string fault_of(const std::function<std::string()>& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return " ended by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return " exited with " + std::to_string(WEXITSTATUS(status));
  return "";
}

}  // namespace

ForkedChild::ForkedChild(const std::function<std::string()>& work, Ending ending) {
  int ends[2];
  if (pipe(ends) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    is_forked_child = true;
    ::close(ends[0]);
    const std::string fault = fault_of(work);
    (void)!::write(ends[1], fault.data(), fault.size());
    ::close(ends[1]);
    if (ending == Ending::exit) std::exit(0);  // NOLINT(concurrency-mt-unsafe): on purpose.
    _exit(0);
  }
  ::close(ends[1]);
  output_ = ends[0];
}

ForkedChild::~ForkedChild() {
  if (output_ >= 0) ::close(output_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void end_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) ::kill(getpid(), SIGKILL);  // It has ended before that.
}

void ForkedChild::kill() const { ::kill(pid_, SIGKILL); }

std::string ForkedChild::wait() {
  if (pid_ < 0) return "there is no child";
  const Clock::time_point end = Clock::now() + child_patience;
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() >= end) return "the child hangs";
    std::this_thread::sleep_for(1ms);
  }
  pid_ = -1;
  std::string fault;
  char buffer[4096];
  pollfd readable{.fd = output_, .events = POLLIN, .revents = 0};
  // A grandchild may still hold the other end open.
  while (poll(&readable, 1, 0) > 0) {
    const ssize_t bytes = read(output_, buffer, sizeof buffer);
    if (bytes <= 0) break;
    fault.append(buffer, static_cast<std::size_t>(bytes));
  }
  return fault + ending_of(status);
}

}  // namespace tutti::test
