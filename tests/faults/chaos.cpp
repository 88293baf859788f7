#include "faults/chaos.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <thread>

#include "faults/board.hpp"
#include "faults/trainee.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t least_members = 3;
constexpr auto call_timeout = is_sanitized ? 60s : 20s;
/// The time limit for all processes to end after the training.
constexpr auto end_time = is_sanitized ? 180s : 60s;
constexpr std::size_t most_processes = 4096;

/// Shared by the director and all processes.
struct Shared {
  std::atomic<bool> is_over{false};
  std::array<TraineeLine, most_processes> lines{};
};

std::string free_door() {
  const Socket listener = listen_on(Endpoint::parse("127.0.0.1:0"), {});
  return bound_to(listener).text();
}

class Director {
 public:
  Director(std::uint64_t seed, std::uint32_t ranks)
      : random_(seed),
        ranks_(ranks),
        shared_(::new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared()),
        door_(free_door()) {
    setenv("TUTTI_SECRET", "chaos", 1);
    setenv("TUTTI_TIMEOUT", std::to_string(call_timeout.count()).c_str(), 1);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      start([&, rank](TraineeLine& line) {
        const TrainingPlace place{.door = door_, .is_over = shared_->is_over};
        train(meeting_.join(rank, ranks_, {.secret = {.bytes = "chaos"}}, call_timeout), false,
              place, line);
      });
    }
  }
  ~Director() {
    for (const Process& process : running_) {
      kill(process.pid, SIGKILL);
      waitpid(process.pid, nullptr, 0);
    }
    munmap(shared_, sizeof(Shared));
  }
  Director(const Director&) = delete;
  Director& operator=(const Director&) = delete;

  ChaosResult direct(std::chrono::seconds time) {
    const auto end = SteadyClock::now() + time;
    while (SteadyClock::now() < end && started_ < most_processes && result_.wrong.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50 + random_.below(500U)));
      reap();
      if (random_.one_in(2)) {
        kill_one();
      } else {
        send_one();
      }
    }
    shared_->is_over = true;
    finish();
    return std::move(result_);
  }

 private:
  struct Process {
    pid_t pid;
    std::size_t line;
    bool was_killed;
  };

  template <class Work>
  void start(const Work& work) {
    const std::size_t index = started_++;
    TraineeLine& line = shared_->lines[index];
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      try {
        work(line);
        _exit(0);
      } catch (const std::exception& error) {
        note(line.trouble, error.what());
        _exit(1);
      }
    }
    running_.push_back({.pid = pid, .line = index, .was_killed = false});
  }

  void send_one() {
    if (running_.size() >= ranks_) return;
    start([&](TraineeLine& line) {
      const TrainingPlace place{.door = door_, .is_over = shared_->is_over};
      train(Communicator::join(door_, call_timeout), true, place, line);
    });
  }

  /// Kills a member if enough are left. Processes that wait to join do not count.
  void kill_one() {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (shared_->lines[running_[i].line].is_in && !running_[i].was_killed) members.push_back(i);
    }
    if (members.size() <= least_members) return;
    Process& victim = running_[random_.pick(members)];
    victim.was_killed = true;
    kill(victim.pid, SIGKILL);
    ++result_.kills;
  }

  void reap() {
    std::erase_if(running_, [&](const Process& process) {
      int status = 0;
      if (waitpid(process.pid, &status, WNOHANG) != process.pid) return false;
      account(process, status);
      return true;
    });
  }

  void account(const Process& process, int status) {
    const TraineeLine& line = shared_->lines[process.line];
    const bool is_new = process.line >= ranks_;
    if (is_new && line.is_in) ++result_.joins;
    if (process.was_killed) return;
    result_.longest_pause_s =
        std::max(result_.longest_pause_s, 1e-9 * static_cast<double>(line.longest_pause_ns));
    if (line.has_finished && status == 0) {
      if (result_.steps != 0 && result_.steps != line.step) {
        result_.wrong.emplace_back("members ended at different steps");
      }
      result_.steps = line.step;
      result_.error = line.error;
    } else if (is_new && !line.is_in) {
      ++result_.rejections;
      result_.last_refusal = line.trouble.data();
    } else {
      result_.wrong.push_back("a member ended with status " + std::to_string(status) + ": " +
                              line.trouble.data());
    }
  }

  void finish() {
    const auto end = SteadyClock::now() + end_time;
    // Processes that still try to join are rejected.
    for (const Process& process : running_) {
      if (!shared_->lines[process.line].is_in) kill(process.pid, SIGKILL);
    }
    while (!running_.empty() && SteadyClock::now() < end) {
      reap();
      std::this_thread::sleep_for(5ms);
    }
    if (!running_.empty()) result_.wrong.emplace_back("members hang at the end");
  }

  Random random_;
  std::uint32_t ranks_;
  Shared* shared_;
  std::string door_;
  Meeting meeting_;
  std::vector<Process> running_;
  std::size_t started_ = 0;
  ChaosResult result_{};
};

}  // namespace

ChaosResult run_chaos(std::uint64_t seed, std::uint32_t ranks, std::chrono::seconds time) {
  return Director(seed, ranks).direct(time);
}

}  // namespace tutti::test
