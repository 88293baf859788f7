#include "cli/launch/watch.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "core/system_reason.hpp"

namespace tutti::cli {
namespace {

std::string seconds_text(Job::Seconds seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", seconds.count());
  return text.data();
}

}  // namespace

Watch::Watch(const Job& job, Crew& crew, RankOutput& output, const Signals& signals)
    : job_(job), crew_(crew), output_(output), signals_(signals) {}

int Watch::run() {
  if (job_.timeout) enter(Phase::running, *job_.timeout);
  while (phase_ != Phase::abandoned && crew_.anyone_left()) {
    // The ranks are done, but a process that one has started is not.
    if (crew_.alive() == 0 && phase_ < Phase::ending) end_with(SIGTERM);
    wait_for_news();
    meet_deadline();
  }
  summarise();
  drain();
  return exit_code();
}

// News ----------------------------------------------------------------------------------------

void Watch::wait_for_news() {
  std::array<pollfd, 3> fds{};
  fds[0] = {.fd = signals_.file(), .events = POLLIN, .revents = 0};
  for (std::size_t i = 0; i < 2; ++i) {
    fds[i + 1] = {.fd = output_.news()[i], .events = POLLIN, .revents = 0};
  }
  if (::poll(fds.data(), fds.size(), milliseconds_to_wait()) <= 0) return;
  while (const int signal = signals_.take()) hear(signal);
  if (fds[1].revents != 0 || fds[2].revents != 0) hear_output();
}

int Watch::milliseconds_to_wait() {
  using std::chrono::milliseconds;
  // A process that a rank has left behind need not be our child, so it is polled.
  constexpr milliseconds::rep glance = 20;
  constexpr milliseconds::rep long_while = 3'600'000;
  milliseconds::rep most = crew_.alive() == 0 && crew_.anyone_left() ? glance : long_while;
  if (deadline_ != Clock::time_point::max()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now()).count();
    most = std::clamp<milliseconds::rep>(left, 0, most);
  }
  return static_cast<int>(most);
}

void Watch::hear(int signal) {
  switch (signal) {
    case SIGCHLD:
      see_who_ended();
      break;
    case SIGINT:
    case SIGTERM:
      hear_ending(signal);
      break;
    case SIGTSTP:
      crew_.signal(SIGTSTP);
      stop_self();
      break;
    default:
      crew_.signal(signal);
  }
}

void Watch::hear_ending(int signal) {
  const bool again = signal == SIGINT && last_signal_ == SIGINT;
  last_signal_ = signal;
  if (cause_ == Cause::none) cause_ = Cause::signal;
  if (again) {
    kill();
  } else {
    end_with(signal);
  }
}

void Watch::hear_output() {
  output_.heard();
  const int error = output_.error();
  if (error == 0 || output_failed_) return;
  output_failed_ = true;
  if (error == EPIPE) {
    end_because(Cause::unread);
  } else {
    // The ranks go on: a full disk must not lose their work.
    say("cannot write the output of the ranks: " + system_reason(error));
  }
}

// Failure -------------------------------------------------------------------------------------

void Watch::see_who_ended() {
  const std::vector<std::uint32_t> ended = crew_.reap();
  const auto failed = static_cast<std::uint32_t>(std::count_if(
      ended.begin(), ended.end(), [&](std::uint32_t rank) { return crew_.ending(rank).failed(); }));
  (phase_ < Phase::ending ? failed_ : ended_) += failed;
  if (job_.keeps_going && phase_ < Phase::ending) {
    report(ended);
  } else if (failed > 0 && !first_failed_) {
    blame(ended);
  }
}

/// Ranks have failed, and the others go on.
void Watch::report(const std::vector<std::uint32_t>& ended) {
  for (const std::uint32_t rank : ended) {
    if (!crew_.ending(rank).failed()) continue;
    if (!first_failed_) first_failed_ = rank;
    say(crew_.name(rank) + " " + crew_.ending(rank).text() +
        (crew_.alive() > 0 ? "; the others go on" : ""));
  }
}

/// Among ranks that end at almost the same time, one that was killed is more likely the cause than
/// one that exited.
void Watch::blame(const std::vector<std::uint32_t>& ended) {
  for (const std::uint32_t rank : ended) {
    const Ending& ending = crew_.ending(rank);
    if (!ending.failed()) continue;
    const bool killed = ending.signal() != 0;
    if (!first_failed_ || (killed && crew_.ending(*first_failed_).signal() == 0)) {
      first_failed_ = rank;
    }
  }
  if (cause_ != Cause::none) return;
  // A rank that writes directly gets SIGPIPE itself.
  if (job_.direct && crew_.ending(*first_failed_).signal() == SIGPIPE) {
    end_because(Cause::unread);
    return;
  }
  cause_ = Cause::failure;
  std::string text = crew_.name(*first_failed_) + " " + crew_.ending(*first_failed_).text();
  if (crew_.alive() > 0) {
    text += "; the others have " + seconds_text(job_.linger) + " to end by themselves";
  }
  say(text);
  enter(Phase::lingering, job_.linger);
}

// Ending --------------------------------------------------------------------------------------

void Watch::meet_deadline() {
  if (Clock::now() < deadline_) return;
  switch (phase_) {
    case Phase::running:
      say("not done after " + seconds_text(*job_.timeout) + "; ending the ranks");
      end_because(Cause::timeout);
      break;
    case Phase::lingering:
      end_with(SIGTERM);
      break;
    case Phase::ending:
      kill();
      break;
    case Phase::killed:
    case Phase::abandoned:
      phase_ = Phase::abandoned;
      break;
  }
}

void Watch::end_because(Cause cause) {
  if (cause_ == Cause::none) cause_ = cause;
  if (phase_ < Phase::ending) end_with(SIGTERM);
}

void Watch::end_with(int signal) {
  crew_.signal(signal);
  // A stopped process could not handle the signal.
  crew_.signal(SIGCONT);
  if (phase_ < Phase::ending) enter(Phase::ending, job_.grace);
}

void Watch::kill() {
  if (phase_ >= Phase::killed) return;
  std::uint32_t stubborn = 0;
  while (stubborn < crew_.size() && !crew_.alive(stubborn)) ++stubborn;
  if (stubborn < crew_.size() && cause_ != Cause::unread) {
    const std::uint32_t more = crew_.alive() - 1;
    say("killing " + crew_.name(stubborn) +
        (more > 0 ? " and " + std::to_string(more) + " more" : "") + ", still running after " +
        (Clock::now() < deadline_ ? "the first SIGINT" : seconds_text(job_.grace) + " of grace"));
  }
  crew_.signal(SIGKILL);
  enter(Phase::killed, std::max(job_.grace, Job::Seconds(5)));
}

void Watch::enter(Phase phase, Job::Seconds limit) {
  phase_ = phase;
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
}

void Watch::say(const std::string& text) {
  const std::string line = job_.speaker + ": " + text;
  if (!is_draining_) return output_.say(line);
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Watch::summarise() {
  if (phase_ == Phase::abandoned)
    say("some ranks cannot be killed: they are blocked in the kernel");
  if (cause_ == Cause::signal && first_failed_) say("ended by " + signal_name(last_signal_));
  const bool has_survivors = job_.keeps_going && cause_ == Cause::none && failed_ > 0;
  if ((cause_ != Cause::failure && !has_survivors) || crew_.size() == 1) return;
  std::string text =
      "of " + std::to_string(crew_.size()) + " ranks " + std::to_string(failed_) + " failed";
  if (ended_ > 0)
    text += ", " + std::to_string(ended_) + (ended_ == 1 ? " was" : " were") + " ended";
  const std::uint32_t fine = crew_.size() - failed_ - ended_;
  if (fine > 0) text += ", " + std::to_string(fine) + " succeeded";
  say(text);
}

/// Waits for a slow reader, unless the job has a timeout.
void Watch::drain() {
  output_.finish();
  is_draining_ = true;
  deadline_ = Clock::time_point::max();
  if (cause_ == Cause::signal || cause_ == Cause::timeout) enter(phase_, job_.grace);
  const int signal_before = std::exchange(last_signal_, 0);
  while (!output_.done() && Clock::now() < deadline_ && last_signal_ == 0) wait_for_news();
  const int signal = std::exchange(last_signal_, signal_before);
  if (output_.done()) return;
  // A blocked write cannot be cancelled; it ends with the process.
  std::_Exit(signal != 0 ? signal_code + signal : exit_code());
}

int Watch::exit_code() const {
  switch (cause_) {
    case Cause::none:
      // With keeps_going: no rank has survived.
      if (first_failed_ && failed_ == crew_.size()) return crew_.ending(*first_failed_).exit_code();
      return output_failed_ || output_.has_lost_copy() ? launcher_failed : 0;
    case Cause::failure:
      return crew_.ending(*first_failed_).exit_code();
    case Cause::timeout:
      return timed_out_code;
    case Cause::unread:
      return signal_code + SIGPIPE;
    case Cause::signal:
      break;
  }
  // Ranks that exit with 0 after SIGTERM have not failed.
  if (!first_failed_) return 0;
  const Ending& ending = crew_.ending(*first_failed_);
  return ending.signal() != 0 ? signal_code + last_signal_ : ending.exit_code();
}

}  // namespace tutti::cli
