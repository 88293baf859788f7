#include "faults/case_run.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "faults/scenario.hpp"
#include "support/command.hpp"
#include "support/processes.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto outer_limit = is_sanitized ? 120s : 30s;
constexpr auto between_looks = 2ms;
/// Children of ranks must end within this time after all ranks have ended.
constexpr auto orphans_patience = 5s;

FabricSettings fabric_for(const FaultCase& fault_case, std::uint32_t rank) {
  FabricSettings fabric{.secret = {.bytes = "s"}};
  if (fault_case.ground == Ground::memory) fabric.transport = "shm";
  if (fault_case.ground == Ground::tcp) fabric.transport = "tcp";
  if (fault_case.ground == Ground::mixed) fabric.host_id = std::to_string(rank / 2);
  return fabric;
}

void guarded(BoardLine& line, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    note(line.trouble, "threw: " + std::string(error.what()));
    line.stage = Stage::done;
  }
}

/// A command that prints the stack of each thread of a process, if possible.
std::string whereabouts(pid_t pid) {
  return "(timeout 20 gdb -p " + std::to_string(pid) +
         " -batch -ex 'thread apply all bt 20' 2>/dev/null || cat /proc/" + std::to_string(pid) +
         "/task/*/wchan) | grep -E '^#|^Thread|wchan'";
}

/// The processes of a case. The destructor leaves none behind.
class Processes {
 public:
  explicit Processes(const FaultCase& fault_case) : case_(fault_case) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // Orphans of ranks become children.
    if (fault_case.ground == Ground::threads) {
      start([&] { be_threads(); });
      return;
    }
    for (std::uint32_t rank = 0; rank < fault_case.ranks; ++rank) {
      start([&, rank] { be_rank(rank); });
    }
  }
  ~Processes() {
    for (const pid_t pid : running_) {
      if (pid == 0) continue;
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Whether all have ended by themselves before the time limit.
  bool wait() {
    const auto end = SteadyClock::now() + outer_limit;
    bool has_released = false;
    while (SteadyClock::now() < end) {
      if (reap() == 0) return true;
      if (!has_released && case_.fault == Fault::stop && have_others_done()) {
        has_released = true;
        release();
      }
      std::this_thread::sleep_for(between_looks);
    }
    return false;
  }

  /// Waits for processes that ranks have left behind. Kills those that do not end, and returns
  /// their number.
  [[nodiscard]] std::size_t end_orphans() const {
    const auto end = SteadyClock::now() + orphans_patience;
    while (SteadyClock::now() < end) {
      const pid_t pid = waitpid(-1, nullptr, WNOHANG);
      if (pid < 0) return 0;
      if (pid == 0) std::this_thread::sleep_for(between_looks);
    }
    std::size_t count = 0;
    const std::string self = std::to_string(getpid());
    std::ifstream children("/proc/" + self + "/task/" + self + "/children");
    for (pid_t pid = 0; children >> pid; ++count) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    return count;
  }

  [[nodiscard]] std::string describe_hang() const {
    std::string text;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (running_[i] == 0) continue;
      text += "process " + std::to_string(i) + ", " +
              std::string(name(board_[static_cast<std::uint32_t>(i)].stage.load())) + ":\n" +
              shell(whereabouts(running_[i])).out;
    }
    return text;
  }

  [[nodiscard]] const Board& board() const { return board_; }
  /// Describes the processes that a signal ended.
  [[nodiscard]] const std::string& signals() const { return signals_; }

 private:
  template <class Work>
  void start(const Work& work) {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const rlimit none{};
      setrlimit(RLIMIT_CORE, &none);
      work();
      _exit(0);
    }
    running_.push_back(pid);
  }

  void be_rank(std::uint32_t rank) {
    guarded(board_[rank], [&] {
      Communicator communicator =
          meeting_.join(rank, case_.ranks, fabric_for(case_, rank), case_.group_timeout);
      scenario_of(case_).play(communicator, case_, board_[rank]);
    });
  }

  void be_threads() {
    setenv("TUTTI_TIMEOUT", std::to_string(case_.group_timeout.count() / 1000).c_str(), 1);
    guarded(board_[0], [&] {
      run_threads(case_.ranks, [&](Communicator& communicator) {
        scenario_of(case_).play(communicator, case_, board_[communicator.rank()]);
      });
    });
  }

  void note_signal(std::ptrdiff_t process, int signal) {
    signals_ += " process " + std::to_string(process) + " by " + strsignal(signal);
  }

  /// The number of processes that still run.
  std::size_t reap() {
    std::size_t left = 0;
    for (pid_t& pid : running_) {
      if (pid == 0) continue;
      int status = 0;
      if (waitpid(pid, &status, WNOHANG) == pid) {
        if (WIFSIGNALED(status)) note_signal(&pid - running_.data(), WTERMSIG(status));
        pid = 0;
      } else {
        ++left;
      }
    }
    return left;
  }

  [[nodiscard]] bool have_others_done() const {
    for (std::uint32_t rank = 0; rank < case_.ranks; ++rank) {
      if (!case_.is_stopped(rank) && running_[rank] != 0) return false;
    }
    return true;
  }

  /// Continues the stopped ranks, or kills them.
  void release() const {
    for (std::uint32_t rank = 0; rank < case_.ranks; ++rank) {
      if (!case_.is_stopped(rank) || running_[rank] == 0) continue;
      kill(running_[rank], case_.continues ? SIGCONT : SIGKILL);
    }
  }

  const FaultCase& case_;
  Board board_;
  Meeting meeting_;
  std::vector<pid_t> running_;  // 0 once it has ended.
  std::string signals_;
};

}  // namespace

CaseResult run_case(const FaultCase& fault_case, double patience) {
  Processes processes(fault_case);
  const bool ended = processes.wait();
  CaseResult result = scenario_of(fault_case).judge(fault_case, processes.board(), patience);
  if (!ended) {
    result.hung = true;
    result.wrong.push_back("hangs:\n" + processes.describe_hang());
  } else if (const std::size_t left = processes.end_orphans(); left > 0) {
    result.wrong.push_back("leaves " + std::to_string(left) + " processes behind");
  }
  if (!result.wrong.empty() && !processes.signals().empty()) {
    result.wrong.push_back("ended:" + processes.signals());
  }
  return result;
}

}  // namespace tutti::test
