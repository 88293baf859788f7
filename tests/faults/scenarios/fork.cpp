#include "faults/scenarios/fork.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "faults/scenarios/fork_children.hpp"
#include "faults/scenarios/promised_times.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr double before_fork_s = 0.2;

/// Open descriptors except pipes: a rank opens the doorbell pipes of others on first use.
std::size_t held_descriptors() {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code is_closed;
    const std::string what = std::filesystem::read_symlink(each.path(), is_closed);
    if (!is_closed && what.find("pipe:") != 0) ++count;
  }
  return count;
}

/// One rank of a case.
class ForkPlayer {
 public:
  ForkPlayer(Communicator& communicator, const FaultCase& fault_case, BoardLine& line)
      : group_(communicator),
        case_(fault_case),
        line_(line),
        own_chance_(fault_case.chance().bits() + communicator.rank()),
        children_(inherited_, own_chance_.bits()),
        children_of_thread_(inherited_, own_chance_.bits()) {
    Random common = fault_case.chance();
    fault_step_ = common.below(steps());
    forks_in_thread_ = own_chance_.one_in(3);
  }
  ~ForkPlayer() {
    if (timer_.joinable()) timer_.join();
  }
  ForkPlayer(const ForkPlayer&) = delete;
  ForkPlayer& operator=(const ForkPlayer&) = delete;

  void play() {
    inherited_.group = &group_;
    inherited_.twin = group_.duplicate();
    inherited_.kept = std::make_unique<SharedNumbers>(30000, Inheritance::kept_value);
    meet();
    const std::size_t descriptors = held_descriptors();
    line_.stage = Stage::calling;
    try {
      // A rank that is slow to leave the barrier may see the fault here.
      line_.called_at = now_ns();
      group_.barrier();
      for (std::uint32_t step = 0; step < steps(); ++step) work(step);
      if (case_.fault != Fault::none) call_until_failure();
      settle_children();
    } catch (const Error& error) {
      note_failure(error);
      settle_children();
      recover();
      line_.stage = Stage::done;
      return;
    }
    // The children of this rank have ended; other ranks wait for theirs.
    const std::size_t now = held_descriptors();
    if (now > descriptors) {
      complain("descriptors from " + std::to_string(descriptors) + " to " + std::to_string(now));
    }
    group_.barrier();
    line_.stage = Stage::done;
  }

 private:
  [[nodiscard]] std::uint32_t steps() const {
    return static_cast<std::uint32_t>(case_.trial.count);
  }
  [[nodiscard]] std::uint32_t right() const { return (group_.rank() + 1) % group_.size(); }
  [[nodiscard]] std::uint32_t left() const {
    return (group_.rank() + group_.size() - 1) % group_.size();
  }
  [[nodiscard]] std::uint32_t sum() const { return group_.size() * (group_.size() + 1) / 2; }

  /// Opens all connections and threads that are needed later.
  void meet() {
    const std::vector<std::uint8_t> out(group_.size());
    std::vector<std::uint8_t> in(group_.size());
    for (Communicator* const each : {&group_, &*inherited_.twin}) {
      each->all_to_all(out, in, {.algorithm = "alltoall/mesh"});
      std::vector<std::uint32_t> data(100);
      each->all_reduce_async(data).wait();
      SharedNumbers shared(60000);
      each->all_reduce(shared);
      std::vector<std::uint32_t> got(100);
      for (std::uint32_t shift = 1; shift < group_.size(); ++shift) {
        each->send_receive(data, (group_.rank() + shift) % group_.size(), got,
                           (group_.rank() + group_.size() - shift) % group_.size());
      }
    }
  }

  /// One step of a program, with forks during calls.
  void work(std::uint32_t step) {
    look_for_fault(step);
    Random common(case_.seed * 1000003 + case_.number * 31 + step);
    const std::size_t count = common.one_in(2) ? 100 : 60000;
    const std::uint32_t mark = step * 100;
    std::vector<std::uint32_t> plain(count, group_.rank() + 1);
    SharedNumbers shared(count, group_.rank() + 1);
    const std::vector<std::uint32_t> out(count, mark + group_.rank());
    std::vector<std::uint32_t> in(count);
    const auto is = [](const auto& data, std::uint32_t value) {
      return std::ranges::all_of(data, [&](std::uint32_t each) { return each == value; });
    };
    std::atomic<bool> is_over{false};
    std::thread forker;
    try {
      line_.called_at = now_ns();
      // One by one: if a later one throws, the earlier ones are recorded and waited for.
      inherited_.works.push_back(inherited_.twin->all_reduce_async(plain));
      inherited_.works.push_back(group_.receive_async(in, left(), {.tag = step}));
      inherited_.works.push_back(group_.send_async(out, right(), {.tag = step}));
      if (forks_in_thread_) {
        forker = std::thread([&] { fork_now_and_then(is_over); });
      }
      fork_some();
      group_.all_reduce(shared);
      fork_some();
      for (const Work& each : inherited_.works) each.wait();
    } catch (const Error&) {
      stop(forker, is_over);
      end_works();
      throw;
    }
    stop(forker, is_over);
    inherited_.works.clear();
    if (!is(plain, sum())) complain("a wrong sum of an asynchronous call");
    if (!is(shared, sum())) complain("a wrong sum of shared memory");
    if (!is(in, mark + left())) complain("a wrong message");
    if (own_chance_.one_in(2) || children_.size() > 4) settle_children();
  }

  void fork_some() {
    if (own_chance_.one_in(2)) return;
    children_.add();
  }

  /// Forks from another thread than the calling one, so at any moment of a call.
  void fork_now_and_then(const std::atomic<bool>& is_over) {
    constexpr std::size_t most = 2;
    for (std::size_t i = 0; i < most && !is_over; ++i) {
      children_of_thread_.add();
      std::this_thread::sleep_for(500us);
    }
  }

  static void stop(std::thread& forker, std::atomic<bool>& is_over) {
    is_over = true;
    if (forker.joinable()) forker.join();
  }

  /// After a failure every Work ends soon and no longer uses the caller's memory.
  void end_works() {
    for (const Work& each : inherited_.works) {
      try {
        if (!each.wait_for(15s)) complain("a Work does not end although its communicator failed");
      } catch (const Error&) {
        // The verdict of the communicator.
      }
    }
    inherited_.works.clear();
  }

  void settle_children() {
    const std::string fault =
        children_.wait() + children_of_thread_.wait() + inherited_.fault_of_kept();
    if (!fault.empty()) complain(fault);
  }

  void complain(const std::string& what) {
    if (line_.trouble[0] == '\0') note(line_.trouble, what);
  }

  // What happens --------------------------------------------------------------------------------

  void look_for_fault(std::uint32_t step) {
    if (case_.fault == Fault::none || group_.rank() != case_.victim || step != fault_step_) return;
    if (own_chance_.one_in(2)) children_.add_survivor();
    timer_ = std::thread([this] {
      std::this_thread::sleep_for(case_.delay);
      line_.fault_at = now_ns();
      if (case_.fault == Fault::exit) _exit(0);
      signal(SIGSEGV, SIG_DFL);
      kill(getpid(), case_.fault == Fault::crash ? SIGSEGV : SIGKILL);
    });
  }

  void call_until_failure() {
    const std::int64_t give_up = now_ns() + 10'000'000'000;
    while (now_ns() < give_up) {
      line_.called_at = now_ns();
      group_.barrier();
    }
    complain("nothing has failed");
  }

  /// The error may come from the duplicate: then the group has failed, too, or will.
  void note_failure(const Error& error) {
    line_.failed_at = now_ns();
    line_.longest_pause_ns = line_.failed_at - line_.called_at;
    line_.code = static_cast<int>(error.code());
    if (case_.fault == Fault::none) return complain(std::string("has failed: ") + error.what());
    try {
      call_until_failure();
    } catch (const Error&) {
      line_.failed_at = now_ns();
    }
    const std::optional<Verdict> verdict = group_.verdict();
    if (!verdict) return complain(std::string("no verdict after ") + error.what());
    note(line_.verdict, verdict->words);
    for (const std::uint32_t rank : verdict->ranks) line_.blamed |= 1U << rank;
    line_.code = static_cast<int>(verdict->code);
  }

  void recover() {
    if (case_.fault == Fault::none) return;
    line_.stage = Stage::shrinking;
    Regrouped shrunk = group_.shrink();
    line_.left = shrunk.communicator->size();
    for (const std::uint32_t rank : shrunk.gone) line_.gone |= 1U << rank;
    SharedNumbers data(1000, 1);
    children_.add();
    shrunk.communicator->all_reduce(data);
    if (data.back() != line_.left) complain("a wrong sum in the shrunk group");
    shrunk.communicator->barrier();
    line_.recovered_at = now_ns();
    settle_children();
  }

  Communicator& group_;
  const FaultCase& case_;
  BoardLine& line_;
  Random own_chance_;
  Inheritance inherited_{};
  ForkChildren children_;
  ForkChildren children_of_thread_;
  std::uint32_t fault_step_ = 0;
  bool forks_in_thread_ = false;
  std::thread timer_;
};

}  // namespace

void draw_fork(Random& random, FaultCase& drawn) {
  if (drawn.ground == Ground::threads) drawn.ground = Ground::memory;  // A thread cannot die alone.
  const std::vector<Fault> able{Fault::none, Fault::none, Fault::kill, Fault::exit, Fault::crash};
  drawn.fault = random.pick(able);
  drawn.trial.count = 1 + random.below(5U);
  drawn.delay = std::chrono::microseconds(random.below(4000U));
}

void play_fork(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  ForkPlayer(communicator, fault_case, line).play();
}

CaseResult judge_fork(const FaultCase& fault_case, const Board& board, double patience) {
  CaseResult result;
  const bool is_lost = fault_case.fault != Fault::none;
  const std::uint32_t victim = is_lost ? 1U << fault_case.victim : 0;
  const auto wrong = [&](std::uint32_t rank, const std::string& what) {
    result.wrong.push_back("rank " + std::to_string(rank) + " " + what);
  };
  const BoardLine* first = nullptr;
  std::int64_t failed = 0;
  std::int64_t recovered = 0;
  for (std::uint32_t rank = 0; rank < fault_case.ranks; ++rank) {
    if (is_lost && rank == fault_case.victim) continue;
    const BoardLine& line = board[rank];
    if (first == nullptr) first = &line;
    const std::string verdict = line.verdict.data();
    if (line.stage != Stage::done) {
      wrong(rank, "has only reached the stage " + std::string(name(line.stage.load())));
    }
    if (line.trouble[0] != '\0') wrong(rank, std::string("says: ") + line.trouble.data());
    if (verdict != first->verdict.data()) wrong(rank, "has another verdict: " + verdict);
    if (is_lost && line.code != static_cast<int>(ErrorCode::peer_lost))
      wrong(rank, "got " + verdict);
    if (line.blamed != victim) wrong(rank, "blames others: " + verdict);
    if (line.gone != victim) wrong(rank, "goes on without other ranks");
    failed = std::max(failed, line.failed_at.load());
    recovered = std::max(recovered, line.recovered_at.load());
    result.detection_s =
        std::max(result.detection_s, 1e-9 * static_cast<double>(line.longest_pause_ns));
  }
  if (recovered > 0) result.recovery_s = 1e-9 * static_cast<double>(recovered - failed);
  if (result.detection_s > notice_s * patience + before_fork_s) {
    result.wrong.push_back("noticed after " + std::to_string(result.detection_s) + " s");
  }
  if (result.recovery_s > recover_s * patience) {
    result.wrong.push_back("recovered after " + std::to_string(result.recovery_s) + " s");
  }
  return result;
}

std::string fork_words(const FaultCase& drawn) {
  std::string text = name(drawn.fault) + ", " + std::to_string(drawn.trial.count) + " steps";
  if (drawn.fault != Fault::none) text += ", after " + std::to_string(drawn.delay.count()) + " us";
  return text;
}

std::string fork_label(const FaultCase& drawn) { return "fork, " + name(drawn.fault); }

}  // namespace tutti::test
