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

/// Sees to a job from the start of its ranks until nothing is left of them: forwards signals, and
/// ends the ranks when one fails, when time is up or when nobody reads what they write.
class Watch {
 public:
  /// `signals` is a signalfd for all that is to be heard.
  Watch(const Job& job, Crew& crew, RankOutput& output, int signals);

  /// Returns what to exit with.
  [[nodiscard]] int run();

  /// As timeout(1) and the shells have it.
  static constexpr int timed_out_code = 124;
  static constexpr int launcher_failed = 125;
  static constexpr int signal_code = 128;

 private:
  using Clock = std::chrono::steady_clock;

  /// How near the end is; only ever grows.
  enum class Phase {
    running,
    lingering,  ///< A rank has failed, and the others may notice by themselves.
    ending,     ///< They were asked to end and have their grace.
    killed,     ///< SIGKILL is sent.
    abandoned,  ///< Not even that helped.
  };
  /// Why it came to an end; the first reason counts.
  enum class Cause { none, failure, timeout, signal, unread };

  void wait_for_news();
  [[nodiscard]] int milliseconds_to_wait();
  void hear_signals();
  void hear(int signal);
  void hear_ending(int signal);
  void hear_output();
  void stop_along();

  void see_who_ended();
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
  int signals_;

  Phase phase_ = Phase::running;
  Clock::time_point deadline_ = Clock::time_point::max();
  Cause cause_ = Cause::none;
  std::optional<std::uint32_t> first_failed_;
  std::uint32_t failed_ = 0;  // By themselves.
  std::uint32_t ended_ = 0;   // Because they were told to.
  int last_signal_ = 0;       // By which the user wants the job ended.
  bool output_failed_ = false;
  bool is_draining_ = false;
};

}  // namespace tutti::cli
