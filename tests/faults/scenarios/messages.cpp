#include "faults/scenarios/messages.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "faults/scenarios/message_layout.hpp"
#include "faults/scenarios/message_strand.hpp"
#include "faults/scenarios/promised_times.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr double before_fault_s = 0.2;

ErrorCode expected_code(Fault fault) {
  switch (fault) {
    case Fault::abort:
      return ErrorCode::aborted;
    case Fault::mismatch:
      return ErrorCode::mismatch;
    case Fault::stop:
      return ErrorCode::timed_out;
    default:
      return ErrorCode::peer_lost;
  }
}

std::uint64_t hash_of(const Verdict& verdict) {
  std::uint64_t hash = static_cast<std::uint64_t>(verdict.code) + 1;
  for (const std::uint32_t rank : verdict.ranks) hash = hash * 1099511628211ULL + rank + 1;
  for (const char each : verdict.words) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211ULL;
  }
  return hash;
}

/// One rank of a case.
class MessagePlayer {
 public:
  MessagePlayer(Communicator& communicator, const FaultCase& fault_case, BoardLine& line)
      : base_(communicator), case_(fault_case), layout_(fault_case), line_(line) {}
  ~MessagePlayer() {
    if (timer_.joinable()) timer_.join();
  }
  MessagePlayer(const MessagePlayer&) = delete;
  MessagePlayer& operator=(const MessagePlayer&) = delete;

  void play() {
    open();
    line_.stage = Stage::calling;
    // A rank that is slow to leave the barrier may see the fault here.
    guarded(parts_.front(), [&] { base_.barrier({.timeout = case_.group_timeout}); });
    if (layout_.has_threads) {
      run_in_threads();
    } else {
      run_in_turns();
    }
    if (timer_.joinable()) timer_.join();
    line_.stage = Stage::failed;
    const bool recovers = parts_.front().has_failed && line_.trouble[0] == '\0';
    if (recovers) recover();
    line_.stage = Stage::done;
  }

 private:
  /// This rank on one of the communicators.
  struct Part {
    std::uint32_t lane = 0;
    std::optional<Communicator> own{};  // Empty for the group, which this player does not own.
    std::unique_ptr<MessageStrand> strand{};
    bool has_failed = false;
    bool has_ended = false;
  };

  [[nodiscard]] bool is_victim() const { return base_.rank() == case_.victim; }

  void open() {
    parts_.resize(1);
    if (layout_.has_duplicate) {
      parts_.emplace_back();
      parts_.back().lane = 1;
      parts_.back().own = base_.duplicate();
    }
    if (layout_.has_parts) {
      const std::uint32_t color = base_.rank() % 2;
      parts_.emplace_back();
      parts_.back().lane = static_cast<std::uint32_t>(layout_.lanes.size()) - 2 + color;
      parts_.back().own = base_.split(color);
    }
    for (Part& part : parts_) {
      const MessageLane& lane = layout_.lanes[part.lane];
      MessageStrand::Setting setting;
      if (lane.must_fail) setting.timeout = case_.call_timeout();
      if (is_victim() && case_.fault == Fault::mismatch && part.lane == layout_.fault_lane) {
        setting.too_long_from = layout_.fault_round;
      }
      part.strand =
          std::make_unique<MessageStrand>(part.own ? *part.own : base_, lane.plan, setting);
    }
  }

  // What happens --------------------------------------------------------------------------------

  void strike() {
    line_.fault_at = now_ns();
    switch (case_.fault) {
      case Fault::exit:
        _exit(0);
      case Fault::kill:
        kill(getpid(), SIGKILL);
        return;
      case Fault::crash:
        signal(SIGSEGV, SIG_DFL);
        kill(getpid(), SIGSEGV);
        return;
      case Fault::stop:
        kill(getpid(), SIGSTOP);
        return;
      case Fault::abort:
        for (Part& part : parts_) {
          if (part.lane != layout_.fault_lane) continue;
          part.strand->communicator().abort("the disk is full");
        }
        return;
      default:
        return;
    }
  }

  void look_for_fault(const Part& part, std::uint32_t round) {
    if (!is_victim() || part.lane != 0 || round != layout_.fault_round) return;
    timer_ = std::thread([this] {
      std::this_thread::sleep_for(case_.delay);
      strike();
    });
  }

  // What the rank does --------------------------------------------------------------------------

  void run_in_threads() {
    std::vector<std::thread> threads;
    for (Part& part : parts_) {
      threads.emplace_back([&] {
        for (std::uint32_t round = 0; round < part.strand->rounds(); ++round) {
          guarded(part, [&] { begin(part, round); });
          guarded(part, [&] { part.strand->end(round); });
        }
        guarded(part, [&] { finish(part); });
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void run_in_turns() {
    const std::uint32_t rounds = parts_.front().strand->rounds();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (Part& part : parts_) guarded(part, [&] { begin(part, round); });
      for (Part& part : parts_) guarded(part, [&] { part.strand->end(round); });
    }
    for (Part& part : parts_) guarded(part, [&] { finish(part); });
  }

  void begin(const Part& part, std::uint32_t round) {
    look_for_fault(part, round);
    part.strand->begin(round);
  }

  void finish(const Part& part) {
    part.strand->finish();
    if (!layout_.lanes[part.lane].must_fail) return;
    const std::int64_t give_up = now_ns() + 10'000'000'000;
    while (now_ns() < give_up) part.strand->finish();
    complain(part, "nothing has failed");
  }

  void guarded(Part& part, const std::function<void()>& work) {
    if (part.has_ended) return;
    try {
      work();
    } catch (const Error& error) {
      part.has_ended = part.has_failed = true;
      try {
        note_failure(part, error);
        part.strand->collapse();
        look_after(part);
      } catch (const std::exception& after) {
        complain(part, after.what());
      }
    } catch (const std::exception& error) {
      part.has_ended = true;
      complain(part, error.what());
    }
  }

  void complain(const Part& part, const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (line_.trouble[0] != '\0') return;
    note(line_.trouble, "communicator " + std::to_string(part.lane) + ": " + what);
  }

  void note_failure(const Part& part, const Error& error) {
    const std::int64_t now = now_ns();
    const MessageLane& lane = layout_.lanes[part.lane];
    const std::int64_t called = part.strand->called_at();
    {
      const std::lock_guard lock(mutex_);
      line_.failed_at = std::max(line_.failed_at.load(), now);
      if (called > 0) {
        line_.longest_pause_ns = std::max(line_.longest_pause_ns.load(), now - called);
      }
    }
    if (!lane.must_fail) return complain(part, std::string("has failed: ") + error.what());
    const std::optional<Verdict> verdict = part.strand->communicator().verdict();
    if (!verdict) return complain(part, std::string("no verdict after ") + error.what());
    line_.outcomes[part.lane] = hash_of(*verdict);
    {
      const std::lock_guard lock(mutex_);
      if (part.lane == layout_.fault_lane) note(line_.verdict, verdict->words);
    }
    const bool is_code_right = error.code() == verdict->code || error.code() == ErrorCode::aborted;
    if (!is_code_right) {
      complain(part, std::string("an error that is not of the verdict's kind: ") + error.what());
    }
    const std::vector<std::uint32_t> guilty{*lane.place_of(case_.victim)};
    if (verdict->code != expected_code(case_.fault) || verdict->ranks != guilty) {
      complain(part, "a wrong verdict: " + std::string(name(verdict->code)) + " (rank " +
                         std::to_string(guilty.front()) + " is at fault): " + verdict->words);
    }
  }

  /// A failed communicator stays failed.
  void look_after(const Part& part) {
    std::vector<std::uint32_t> data(10);
    try {
      part.strand->communicator().send(data, 0, {.timeout = 1000ms});
      complain(part, "a send succeeds after the verdict");
    } catch (const Error& error) {
      if (error.code() == ErrorCode::aborted) return;
      complain(part, std::string("a later call says: ") + error.what());
    }
  }

  void recover() {
    line_.stage = Stage::shrinking;
    Regrouped shrunk = base_.shrink();
    for (const std::uint32_t rank : shrunk.gone) line_.gone |= 1U << rank;
    line_.left = shrunk.communicator->size();
    line_.stage = Stage::repeating;
    Random chance(case_.seed * 1000003 + case_.number + line_.left);
    MessageStrand again(
        *shrunk.communicator,
        MessagePlan::draw(chance, {.ranks = line_.left, .rounds = 1, .may_carry = false}), {});
    again.begin(0);
    again.end(0);
    again.finish();
    line_.recovered_at = now_ns();
  }

  Communicator& base_;
  const FaultCase& case_;
  MessageLayout layout_;
  BoardLine& line_;
  std::vector<Part> parts_;
  std::mutex mutex_;
  std::thread timer_;
};

}  // namespace

void draw_messages(Random& random, FaultCase& drawn) {
  std::vector<Fault> able{Fault::none, Fault::abort, Fault::mismatch};
  if (drawn.ground != Ground::threads) {
    for (const Fault each : {Fault::none, Fault::kill, Fault::kill, Fault::exit, Fault::crash,
                             Fault::stop, Fault::mismatch}) {
      able.push_back(each);
    }
  }
  drawn.fault = random.pick(able);
  drawn.trial.count = 1 + random.below(drawn.fault == Fault::stop ? 2U : 4U);
  drawn.delay = std::chrono::microseconds(random.below(random.one_in(2) ? 500U : 6000U));
  drawn.continues = random.one_in(2);
}

void play_messages(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  MessagePlayer(communicator, fault_case, line).play();
}

CaseResult judge_messages(const FaultCase& fault_case, const Board& board, double patience) {
  CaseResult result;
  const MessageLayout layout(fault_case);
  const bool is_lost = fault_case.takes_life() || fault_case.fault == Fault::stop;
  const auto is_judged = [&](std::uint32_t rank) { return rank != fault_case.victim || !is_lost; };
  const auto wrong = [&](std::uint32_t rank, const std::string& what) {
    result.wrong.push_back("rank " + std::to_string(rank) + " " + what);
  };
  const double timeout = 1e-3 * static_cast<double>(fault_case.call_timeout().count());
  std::int64_t failed = 0;
  std::int64_t recovered = 0;
  for (std::uint32_t rank = 0; rank < fault_case.ranks; ++rank) {
    if (!is_judged(rank)) continue;
    const BoardLine& line = board[rank];
    if (line.stage != Stage::done) {
      wrong(rank, "has only reached the stage " + std::string(name(line.stage.load())));
    }
    if (line.trouble[0] != '\0') wrong(rank, std::string("says: ") + line.trouble.data());
    const double pause = 1e-9 * static_cast<double>(line.longest_pause_ns) - timeout;
    result.detection_s = std::max(result.detection_s, pause);
    failed = std::max(failed, line.failed_at.load());
    recovered = std::max(recovered, line.recovered_at.load());
    const std::uint32_t gone = is_lost ? 1U << fault_case.victim : 0;
    if (line.recovered_at > 0 && line.gone != gone) wrong(rank, "goes on without other ranks");
    if (line.recovered_at == 0 && layout.lanes.front().must_fail) wrong(rank, "does not recover");
  }
  for (std::size_t lane = 0; lane < layout.lanes.size(); ++lane) {
    const BoardLine* first = nullptr;
    for (const std::uint32_t rank : layout.lanes[lane].members) {
      if (!is_judged(rank)) continue;
      if (first == nullptr) first = &board[rank];
      if (board[rank].outcomes[lane] == first->outcomes[lane]) continue;
      wrong(rank, "has another verdict on communicator " + std::to_string(lane) + ": " +
                      board[rank].verdict.data() + ", not " + first->verdict.data());
    }
  }
  if (recovered > 0) result.recovery_s = 1e-9 * static_cast<double>(recovered - failed);
  if (result.detection_s > notice_s * patience + before_fault_s) {
    result.wrong.push_back("noticed after " + std::to_string(result.detection_s) + " s");
  }
  if (result.recovery_s > recover_s * patience) {
    result.wrong.push_back("recovered after " + std::to_string(result.recovery_s) + " s");
  }
  return result;
}

std::string messages_words(const FaultCase& drawn) {
  const MessageLayout layout(drawn);
  std::string text = name(drawn.fault);
  if (drawn.fault == Fault::stop) text += drawn.continues ? " that goes on" : " and kill";
  text += ", " + std::to_string(layout.lanes.front().plan.rounds.size()) + " rounds";
  if (drawn.fault != Fault::none) {
    text += ", in round " + std::to_string(layout.fault_round) + " after " +
            std::to_string(drawn.delay.count()) + " us on communicator " +
            std::to_string(layout.fault_lane);
  }
  if (layout.has_duplicate) text += ", a duplicate";
  if (layout.has_parts) text += ", parts";
  return text + (layout.has_threads ? ", in threads" : ", in turns");
}

std::string messages_label(const FaultCase& drawn) { return "messages, " + name(drawn.fault); }

}  // namespace tutti::test
