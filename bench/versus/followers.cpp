#include "versus/followers.hpp"

#include <poll.h>
#include <sys/mman.h>

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

Followers::Followers() : signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
  ::signal(SIGPIPE, SIG_IGN);  // A program that has ended is noticed by its missing answer.
  // A killed program leaves its shared memory behind.
  crew_.emplace(signals_, Guard::Manner::orderly);
}

Followers::~Followers() {
  // Close all inputs before waiting for any program.
  for (Follower& each : followers_) each.in.close();
  for (Id id = 0; id < followers_.size(); ++id) end(id);
  crew_.reset();
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
  if (!in || !out) throw Error(ErrorCode::unsupported, "cannot create a pipe: " + error_text());
  FileDescriptor errors(::memfd_create("stderr", MFD_CLOEXEC));
  Environment environment = Environment::own();
  for (const auto& [name, value] : command.variables) environment.set(name, value);
  const int error = crew_->start({.path = program.path,
                                  .words = command.words,
                                  .environment = std::move(environment),
                                  .in = in.read.number(),
                                  .out = out.write.number(),
                                  .err = errors.number()});
  if (error != 0) {
    throw Error(ErrorCode::unsupported,
                "cannot start '" + program.path + "': " + std::generic_category().message(error));
  }
  followers_.push_back(
      {.in = std::move(in.write), .out = std::move(out.read), .errors = std::move(errors)});
  return crew_->size() - 1;
}

std::string Followers::ask(Id id, const std::string& line, Seconds patience) {
  Follower& follower = followers_[id];
  send(id, line + "\n");
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  while (true) {
    for (std::size_t at = 0; (at = follower.pending.find('\n')) != std::string::npos;) {
      std::string answer = follower.pending.substr(0, at);
      follower.pending.erase(0, at + 1);
      // Launchers may print lines of their own.
      if (answer.starts_with("{")) return answer;
    }
    if (!read_some(id, deadline)) {
      throw Error(ErrorCode::timed_out,
                  "no answer within " + std::to_string(static_cast<int>(patience.count())) + " s");
    }
  }
}

void Followers::send(Id id, const std::string& line) {
  // A line this short fits into an empty pipe.
  if (::write(followers_[id].in.number(), line.data(), line.size()) !=
      static_cast<ssize_t>(line.size())) {
    throw Error(ErrorCode::peer_lost, last_output(id));
  }
}

bool Followers::read_some(Id id, Clock::time_point deadline) {
  Follower& follower = followers_[id];
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  if (left <= 0ms) return false;
  std::array<pollfd, 2> files{pollfd{.fd = follower.out.number(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = signals_.file(), .events = POLLIN, .revents = 0}};
  const int ready =
      ::poll(files.data(), files.size(), static_cast<int>(std::min(left, 1000ms).count()));
  if (ready <= 0) return true;
  if (const int signal = signals_.take(); signal != 0) {
    grace_ = 500ms;
    throw Interrupted(signal);
  }
  if (files[0].revents == 0) return true;
  std::array<char, 4096> text{};
  const ssize_t got = ::read(follower.out.number(), text.data(), text.size());
  if (got <= 0) throw Error(ErrorCode::peer_lost, last_output(id));
  follower.pending.append(text.data(), static_cast<std::size_t>(got));
  return true;
}

bool Followers::ends_within(Id id, Seconds patience) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  for ((void)crew_->reap(); crew_->alive(id); (void)crew_->reap()) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

std::string Followers::last_output(Id id) {
  const std::string how =
      ends_within(id, 1s) ? "it " + crew_->ending(id).text() : "it closed its output";
  const std::string words = last_lines(followers_[id].errors.number());
  return words.empty() ? how + " without a message" : how + ": " + words;
}

void Followers::guard_family(Id id) {
  Follower& follower = followers_[id];
  follower.family = process_family(crew_->pid(id));
  for (const FamilyMember& each : follower.family) {
    if (each.group == each.pid) crew_->guard().add(each.group);
  }
}

void Followers::end(Id id) {
  Follower& follower = followers_[id];
  if (crew_->alive(id)) {
    const std::vector<FamilyMember> family = process_family(crew_->pid(id));
    follower.family.insert(follower.family.end(), family.begin(), family.end());
    follower.in.close();
    // Launchers remove the shared memory of their ranks on SIGTERM, which takes a moment.
    constexpr Seconds to_clean_up{3};
    if (!ends_within(id, grace_)) crew_->signal(id, SIGTERM);
    if (!ends_within(id, to_clean_up)) crew_->signal(id, SIGKILL);
    (void)ends_within(id, to_clean_up);
  }
  kill_left(follower.family);
  for (const FamilyMember& each : follower.family) {
    if (each.group == each.pid) crew_->guard().remove(each.group);
  }
  follower.family.clear();
}

}  // namespace tutti::cli
