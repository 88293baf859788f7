#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "faults/scenarios/call.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// Only data between ranks uses TCP in these processes.
void hang_up_data() {
  DIR* const all = opendir("/proc/self/fd");
  if (all == nullptr) return;
  while (const dirent* const each = readdir(all)) {
    const int fd = std::atoi(each->d_name);
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (fd == dirfd(all) || getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) {
      continue;
    }
    if (peer.ss_family == AF_INET || peer.ss_family == AF_INET6) shutdown(fd, SHUT_RDWR);
  }
  closedir(all);
}

/// The fault of the faulty rank. Does not return if it ends the process.
void come_to_grief(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  line.fault_at = now_ns();
  switch (fault_case.fault) {
    case Fault::exit:
      if (fault_case.ground != Ground::threads) _exit(0);
      return;
    case Fault::kill:
      kill(getpid(), SIGKILL);
      break;
    case Fault::crash:
      // A core dump would take too long.
      signal(SIGSEGV, SIG_DFL);
      kill(getpid(), SIGSEGV);
      break;
    case Fault::stop:
      kill(getpid(), SIGSTOP);
      return;
    case Fault::abort:
      communicator.abort("the disk is full");
      return;
    case Fault::slow:
      std::this_thread::sleep_for(fault_case.call_timeout() + 1500ms);
      return;
    case Fault::hang_up:
      hang_up_data();
      return;
    case Fault::mismatch:
    case Fault::none:
      return;
  }
  std::this_thread::sleep_for(10s);  // Until the signal arrives.
}

/// Triggers the fault at its moment.
class Trigger {
 public:
  Trigger(Communicator& communicator, const FaultCase& fault_case, BoardLine& line)
      : communicator_(communicator), case_(fault_case), line_(line) {}
  ~Trigger() { finish(); }
  Trigger(const Trigger&) = delete;
  Trigger& operator=(const Trigger&) = delete;

  void call_begins() {
    // A rank that is slow, or returns from its thread, does so instead of calling.
    if (case_.moment == Moment::before || case_.fault == Fault::slow) return fire();
    if (case_.moment == Moment::end) return;
    timer_ = std::thread([this] {
      std::this_thread::sleep_for(case_.delay);
      fire();
    });
  }
  void call_ended() {
    if (case_.moment == Moment::end && case_.fault != Fault::slow) fire();
  }
  void finish() {
    if (timer_.joinable()) timer_.join();
  }

 private:
  void fire() { come_to_grief(communicator_, case_, line_); }

  Communicator& communicator_;
  const FaultCase& case_;
  BoardLine& line_;
  std::thread timer_;
};

std::uint32_t bits(const std::vector<std::uint32_t>& ranks) {
  std::uint32_t all = 0;
  for (const std::uint32_t rank : ranks) all |= 1U << rank;
  return all;
}

void note_failure(const Communicator& communicator, const Error& error, BoardLine& line) {
  line.failed_at = now_ns();
  line.code = static_cast<int>(error.code());
  const std::optional<Verdict> verdict = communicator.verdict();
  if (verdict) {
    line.blamed = bits(verdict->ranks);
    note(line.verdict, verdict->words);
    if (verdict->code != error.code()) {
      note(line.trouble, "the error is not of the verdict's kind: " + std::string(error.what()));
    }
  } else {
    note(line.trouble, "there is no verdict after " + std::string(error.what()));
  }
  line.stage = Stage::failed;
}

/// Every rank sends a message to every other one.
void meet(Communicator& communicator) {
  const std::vector<std::uint8_t> out(communicator.size());
  std::vector<std::uint8_t> in(communicator.size());
  communicator.all_to_all(out, in, {.algorithm = "alltoall/mesh"});
}

/// The call between two barriers: the first one so that all ranks are there, the second one so that
/// every rank learns of the fault. Returns whether one of them failed, as it should; a rank that is
/// slow to leave the first barrier fails in it.
bool call_once(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  const bool is_victim = communicator.rank() == fault_case.victim;
  Trigger trigger(communicator, fault_case, line);
  Trial trial = fault_case.trial_of(communicator.rank());
  trial.before_call = [&] {
    line.called_at = now_ns();
    if (is_victim) trigger.call_begins();
  };
  const auto collective = [&] {
    const std::string wrong = try_call(communicator, trial);
    if (is_victim) trigger.call_ended();
    if (!wrong.empty()) note(line.trouble, "a call that succeeded has a wrong result: " + wrong);
  };
  const auto barrier = [&] {
    line.called_at = now_ns();
    communicator.barrier({.timeout = fault_case.call_timeout()});
  };
  try {
    // Connections are opened on first use.
    if (fault_case.fault == Fault::hang_up) (void)try_call(communicator, fault_case.trial);
    communicator.barrier();
    line.stage = Stage::calling;
    if (is_victim && fault_case.difference == Difference::order) {
      barrier();
      collective();
    } else {
      collective();
      barrier();
    }
    // A rank that makes another call may send no message to the ranks in this one.
    if (fault_case.fault == Fault::mismatch) meet(communicator);
    // A fault after both calls shows in the next barrier.
    trigger.finish();
    barrier();
  } catch (const Error& error) {
    trigger.finish();
    note_failure(communicator, error, line);
    return true;
  }
  note(line.trouble, "nothing has failed");
  return false;
}

/// The same call on fewer ranks.
Trial repeat_of(const FaultCase& fault_case, std::uint32_t ranks) {
  Trial trial = fault_case.trial;
  trial.root = trial.root % ranks;
  if (trial.algorithm.empty()) return trial;
  const Algorithm& asked = algorithm(trial.algorithm);
  Problem problem{.ranks = ranks, .root = trial.root};
  if (asked.needs_shape()) problem.shape = squarest(ranks);
  if (!asked.refusal(problem).empty()) trial.algorithm.clear();
  return trial;
}

/// Shrinks and repeats the call, again whenever another rank is lost.
void recover(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  constexpr int most_losses = 4;
  std::optional<Communicator> smaller;
  std::vector<std::uint32_t> ranks(communicator.size());  // Their original ranks.
  for (std::uint32_t rank = 0; rank < communicator.size(); ++rank) ranks[rank] = rank;
  std::thread second;
  if (fault_case.second && communicator.rank() == fault_case.second_victim()) {
    second = std::thread([&] {
      std::this_thread::sleep_for(fault_case.delay);
      kill(getpid(), SIGKILL);
    });
  }
  for (int loss = 0; loss < most_losses; ++loss) {
    try {
      line.stage = Stage::shrinking;
      Regrouped shrunk = (smaller ? *smaller : communicator).shrink();
      smaller = std::move(shrunk.communicator);
      for (const std::uint32_t gone : shrunk.gone) line.gone |= 1U << ranks[gone];
      std::erase_if(ranks, [&](std::uint32_t rank) { return (line.gone & 1U << rank) != 0; });
      line.left = smaller->size();
      line.stage = Stage::repeating;
      const std::string wrong = try_call(*smaller, repeat_of(fault_case, smaller->size()));
      if (!wrong.empty()) note(line.trouble, "the repeat has a wrong result: " + wrong);
      smaller->barrier();
      line.recovered_at = now_ns();
      break;
    } catch (const Error& error) {
      const bool is_next_loss = fault_case.second && error.code() == ErrorCode::peer_lost;
      if (is_next_loss && loss + 1 < most_losses) continue;
      note(line.trouble, "no recovery: " + std::string(error.what()));
      break;
    }
  }
  if (second.joinable()) second.join();
}

/// Ends the process in the way of the case.
void end_as(Ending ending) {
  switch (ending) {
    case Ending::recovers:
    case Ending::returns:
      return;
    case Ending::exits:
      _exit(0);
    case Ending::throws:
      close(STDERR_FILENO);  // std::terminate() prints to it.
      std::terminate();
    case Ending::dies:
      kill(getpid(), SIGKILL);
  }
  std::this_thread::sleep_for(10s);  // Until the signal arrives.
}

}  // namespace

void play_call(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  const bool is_victim = communicator.rank() == fault_case.victim;
  if (is_victim && fault_case.ground == Ground::threads && fault_case.fault == Fault::exit) {
    communicator.barrier();
    line.fault_at = now_ns();
    line.stage = Stage::done;
    return;
  }
  const bool has_failed = call_once(communicator, fault_case, line);
  if (has_failed && fault_case.ending == Ending::recovers) recover(communicator, fault_case, line);
  line.stage = Stage::done;
  end_as(fault_case.ending);
}

}  // namespace tutti::test
