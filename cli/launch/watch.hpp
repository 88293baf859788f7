#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch/crew.hpp"
#include "cli/launch/job.hpp"
#include "cli/launch/rank_output.hpp"

namespace tutti::cli {

/// Supervises a job until none of its processes is left: forwards signals, and ends the ranks when
/// one fails, when the time is up, or when their output is closed.
class Watch {
 public:
  Watch(const Job& job, Crew& crew, RankOutput& output, const Signals& signals);

  /// Returns the exit code.
  [[nodiscard]] int run();

  /// As in timeout(1) and shells.
  static constexpr int timed_out_code = 124;
  static constexpr int launcher_failed = 125;
  static constexpr int signal_code = 128;

 private:
  using Clock = std::chrono::steady_clock;

  /// Only ever increases.
  enum class Phase {
    running,
    lingering,  ///< A rank has failed; the others may end by themselves.
    ending,     ///< SIGTERM is sent, and the grace period runs.
    killed,     ///< SIGKILL is sent.
    abandoned,  ///< SIGKILL had no effect.
  };
  /// Why the job ends. The first reason counts.
  enum class Cause { none, failure, timeout, signal, unread };

  void wait_for_news();
  [[nodiscard]] int milliseconds_to_wait();
  void hear(int signal);
  void hear_ending(int signal);
  void hear_output();

  void see_who_ended();
  void report(const std::vector<std::uint32_t>& ended);
  void blame(const std::vector<std::uint32_t>& ended);
  void meet_deadline();
  void end_because(Cause cause);
  void end_with(int signal);
  void kill();
  void enter(Phase phase, Job::Seconds limit);

  void summarise();
  void drain();
  [[nodiscard]] int exit_code() const;
  void say(const std::string& text);

  const Job& job_;
  Crew& crew_;
  RankOutput& output_;
  const Signals& signals_;

  Phase phase_ = Phase::running;
  Clock::time_point deadline_ = Clock::time_point::max();
  Cause cause_ = Cause::none;
  std::optional<std::uint32_t> first_failed_;
  std::uint32_t failed_ = 0;  // By themselves.
  std::uint32_t ended_ = 0;   // By a signal of the launcher.
  int last_signal_ = 0;       // The last signal of the user to end the job.
  bool output_failed_ = false;
  bool is_draining_ = false;
};

}  // namespace tutti::cli
