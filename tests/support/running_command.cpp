#include "support/running_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto command_patience = 10s;

[[noreturn]] void become(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), TUTTI_COMMAND);
  std::vector<char*> pointers;
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

}  // namespace

RunningCommand::RunningCommand(const std::vector<std::string>& arguments, Through through) {
  if (through == Through::terminal) {
    pid_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
    if (pid_ == 0) become(arguments);
    return;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    become(arguments);
  }
  ::close(ends[1]);
  fd_ = ends[0];
}

RunningCommand::~RunningCommand() {
  close_output();
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void RunningCommand::close_output() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void RunningCommand::read_some() {
  pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, 10) <= 0) return;
  std::string chunk(1 << 16, '\0');
  const ssize_t got = ::read(fd_, chunk.data(), chunk.size());
  if (got > 0) {
    output_.append(chunk, 0, static_cast<std::size_t>(got));
  } else {
    close_output();  // Reading a terminal fails when its last writer has closed it.
  }
}

bool RunningCommand::await(const std::string& text, int times) {
  const auto deadline = Clock::now() + command_patience;
  while (Clock::now() < deadline) {
    int found = 0;
    for (std::size_t at = 0; (at = output_.find(text, at)) != std::string::npos; ++at) ++found;
    if (found >= times) return true;
    if (fd_ < 0) return false;
    read_some();
  }
  return false;
}

void RunningCommand::type(const std::string& text) const {
  [[maybe_unused]] const ssize_t written = ::write(fd_, text.data(), text.size());
}

void RunningCommand::signal(int signal) const { ::kill(pid_, signal); }

int RunningCommand::wait(bool reading) {
  const auto deadline = Clock::now() + command_patience;
  while (Clock::now() < deadline) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      while (reading && fd_ >= 0 && Clock::now() < deadline) read_some();
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    if (reading && fd_ >= 0) {
      read_some();
    } else {
      std::this_thread::sleep_for(5ms);
    }
  }
  return -2;
}

bool is_alive(pid_t pid) {
  std::ostringstream text;
  text << std::ifstream("/proc/" + std::to_string(pid) + "/stat").rdbuf();
  const std::size_t name_end = text.str().rfind(')');
  return name_end != std::string::npos && text.str().at(name_end + 2) != 'Z';
}

bool dies(pid_t pid) {
  const auto deadline = Clock::now() + command_patience;
  while (is_alive(pid) && Clock::now() < deadline) std::this_thread::sleep_for(5ms);
  return !is_alive(pid);
}

}  // namespace tutti::test
