#include "cli/versus/followers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include <tutti/error.hpp>

#include "cli/launch/environment.hpp"

namespace tutti::cli {
namespace {

using namespace std::chrono_literals;

std::string error_text() { return std::generic_category().message(errno); }

/// Both ends of a pipe, closed on exec.
struct Pipe {
  FileDescriptor read{};
  FileDescriptor write{};

  Pipe() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorCode::unsupported, "cannot create a pipe: " + error_text());
    }
    read = FileDescriptor(ends[0]);
    write = FileDescriptor(ends[1]);
  }
};

/// The last lines of the standard error of a program.
std::string last_lines(int file) {
  constexpr off_t enough = 4096;
  const off_t size = ::lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, enough)), '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), std::max<off_t>(size - enough, 0));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::size_t begin = text.size();
  for (int lines = 0; lines < 3 && begin != std::string::npos && begin > 0; ++lines) {
    begin = text.rfind('\n', begin - 1);
  }
  text = text.substr(begin == std::string::npos ? 0 : begin);
  std::string joined;
  for (const char c : text)
    joined += c == '\n' ? std::string(joined.empty() ? "" : " / ") : std::string(1, c);
  return joined;
}

}  // namespace

Followers::Followers() {
  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&handled, each);
  ::sigprocmask(SIG_BLOCK, &handled, &inheritance_.blocked);
  struct sigaction action {};
  action.sa_handler = SIG_IGN;  // A program that has ended is noticed by its missing answer.
  ::sigaction(SIGPIPE, &action, &inheritance_.broken_pipe);
  ::getrlimit(RLIMIT_NOFILE, &inheritance_.files);
  signals_ = FileDescriptor(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) throw Error(ErrorCode::unsupported, "cannot read signals: " + error_text());
  // Orphans of a launcher become our children and are found as such.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  guard_ = std::make_unique<Guard>(Guard::Manner::orderly);
}

Followers::~Followers() {
  // Close all inputs before waiting for any program.
  for (Follower& each : followers_) each.in.close();
  for (Id id = 0; id < followers_.size(); ++id) end(id);
  guard_.reset();
  std::vector<FamilyMember> left = process_family(::getpid());
  std::erase_if(left, [](const FamilyMember& each) { return each.pid == ::getpid(); });
  kill_left(left);
}

Followers::Id Followers::start(const VersusCommand& command) {
  const ProgramFile program = find_program(command.words.front());
  if (program.error != 0) {
    throw Error(ErrorCode::unsupported,
                "'" + command.words.front() + "' is not installed; ./dev peers installs it");
  }
  Pipe in;
  Pipe out;
  FileDescriptor errors(::memfd_create("stderr", MFD_CLOEXEC));
  std::vector<std::string> words = command.words;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  Environment environment = Environment::own();
  for (const auto& [name, value] : command.variables) environment.set(name, value);
  const std::vector<char*> variables = environment.pointers();
  const Started started = start_rank({.path = program.path.c_str(),
                                      .arguments = arguments.data(),
                                      .environment = variables.data(),
                                      .in = in.read.number(),
                                      .out = out.write.number(),
                                      .err = errors.number(),
                                      .inheritance = &inheritance_,
                                      // A killed program leaves its shared memory behind.
                                      .death_signal = guard_->is_there() ? 0 : SIGKILL});
  if (started.error != 0) {
    throw Error(ErrorCode::unsupported, "cannot start '" + program.path +
                                            "': " + std::generic_category().message(started.error));
  }
  guard_->add(started.pid);
  followers_.push_back({.pid = started.pid,
                        .in = std::move(in.write),
                        .out = std::move(out.read),
                        .errors = std::move(errors)});
  return followers_.size() - 1;
}

std::string Followers::ask(Id id, const std::string& line, Seconds patience) {
  Follower& follower = followers_[id];
  send(follower, line + "\n");
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  while (true) {
    for (std::size_t at = 0; (at = follower.pending.find('\n')) != std::string::npos;) {
      std::string answer = follower.pending.substr(0, at);
      follower.pending.erase(0, at + 1);
      // Launchers may print lines of their own.
      if (answer.starts_with("{")) return answer;
    }
    if (!read_some(follower, deadline)) {
      throw Error(ErrorCode::timed_out,
                  "no answer within " + std::to_string(static_cast<int>(patience.count())) + " s");
    }
  }
}

void Followers::send(Follower& follower, const std::string& line) {
  // A line this short fits into an empty pipe.
  if (::write(follower.in.number(), line.data(), line.size()) !=
      static_cast<ssize_t>(line.size())) {
    throw Error(ErrorCode::peer_lost, last_output(follower));
  }
}

bool Followers::read_some(Follower& follower, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  if (left <= 0ms) return false;
  std::array<pollfd, 2> files{pollfd{.fd = follower.out.number(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = signals_.number(), .events = POLLIN, .revents = 0}};
  const int ready =
      ::poll(files.data(), files.size(), static_cast<int>(std::min(left, 1000ms).count()));
  if (ready <= 0) return true;
  if (files[1].revents != 0) {
    signalfd_siginfo what{};
    if (::read(signals_.number(), &what, sizeof what) == sizeof what) {
      grace_ = 500ms;
      throw Interrupted(static_cast<int>(what.ssi_signo));
    }
  }
  if (files[0].revents == 0) return true;
  std::array<char, 4096> text{};
  const ssize_t got = ::read(follower.out.number(), text.data(), text.size());
  if (got <= 0) throw Error(ErrorCode::peer_lost, last_output(follower));
  follower.pending.append(text.data(), static_cast<std::size_t>(got));
  return true;
}

bool Followers::ended(Follower& follower) {
  if (follower.pid < 0) return true;
  if (::waitpid(follower.pid, &follower.status, WNOHANG) != follower.pid) return false;
  guard_->remove(follower.pid);
  follower.pid = -1;
  return true;
}

bool Followers::ends_within(Follower& follower, Seconds patience) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  while (!ended(follower)) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

std::string Followers::last_output(Follower& follower) {
  const std::string how =
      ends_within(follower, 1s) ? "it " + Ending{follower.status}.text() : "it closed its output";
  const std::string words = last_lines(follower.errors.number());
  return words.empty() ? how + " without a message" : how + ": " + words;
}

void Followers::guard_family(Id id) {
  Follower& follower = followers_[id];
  follower.family = process_family(follower.pid);
  for (const FamilyMember& each : follower.family) {
    if (each.group == each.pid && each.pid != follower.pid) guard_->add(each.group);
  }
}

void Followers::end(Id id) {
  Follower& follower = followers_[id];
  if (follower.pid >= 0) {
    const std::vector<FamilyMember> family = process_family(follower.pid);
    follower.family.insert(follower.family.end(), family.begin(), family.end());
    follower.in.close();
    const pid_t group = follower.pid;
    // Launchers remove the shared memory of their ranks on SIGTERM, which takes a moment.
    constexpr Seconds to_clean_up{3};
    if (!ends_within(follower, grace_)) ::kill(-group, SIGTERM);
    if (!ends_within(follower, to_clean_up)) ::kill(-group, SIGKILL);
    (void)ends_within(follower, to_clean_up);
  }
  kill_left(follower.family);
  for (const FamilyMember& each : follower.family) {
    if (each.group == each.pid) guard_->remove(each.group);
  }
  follower.family.clear();
}

}  // namespace tutti::cli
