#include <algorithm>
#include <cstring>

#include "faults/scenarios/call.hpp"
#include "faults/scenarios/promised_times.hpp"

namespace tutti::test {
namespace {

class Judge {
 public:
  Judge(const FaultCase& fault_case, const Board& board, double patience)
      : case_(fault_case), board_(board), patience_(patience) {}

  CaseResult judge() {
    for (std::uint32_t rank = 0; rank < case_.ranks; ++rank) {
      if (is_judged(rank)) judge_rank(rank);
    }
    judge_times();
    return std::move(result_);
  }

 private:
  /// A rank that does not need the connections that are shut down completes its calls and leaves.
  /// It has no verdict; the ranks that have one go on without it.
  [[nodiscard]] bool is_unharmed(std::uint32_t rank) const {
    return case_.fault == Fault::hang_up && board_[rank].stage == Stage::done &&
           std::strcmp(board_[rank].trouble.data(), "nothing has failed") == 0;
  }

  /// Every rank that is alive is checked. A rank that was stopped gets an error, but may be too
  /// late to go on.
  [[nodiscard]] bool is_judged(std::uint32_t rank) const {
    if (case_.second && rank == case_.second_victim()) return false;
    if (is_unharmed(rank)) return false;
    const bool lives = !case_.takes_life() && case_.fault != Fault::stop;
    return rank != case_.victim || lives;
  }

  void judge_rank(std::uint32_t rank) {
    const BoardLine& line = board_[rank];
    const std::string who = "rank " + std::to_string(rank) + " ";
    if (line.stage != Stage::done) {
      wrong(who + "has only reached the stage " + std::string(name(line.stage.load())));
    }
    judge_trouble(rank, who);
    if (line.code < 0) return;
    const ErrorCode code = static_cast<ErrorCode>(line.code.load());
    if (code != expected_code()) {
      wrong(who + "got " + std::string(name(code)) + ": " + line.verdict.data());
    }
    judge_verdict(who, line);
    if (case_.ending == Ending::recovers) judge_group(who, line);
  }

  /// Whether a slow rank has recovered with the others. It may, if they were as slow themselves to
  /// notice that it is late: they wait for it again for a short time when they shrink.
  [[nodiscard]] bool was_in_time() const {
    constexpr std::int64_t short_time = 600'000'000;  // ns: 0.4 s, and what a busy machine adds.
    const BoardLine& slow = board_[case_.victim];
    if (case_.fault != Fault::slow || slow.recovered_at == 0) return false;
    std::int64_t last = 0;
    for (std::uint32_t rank = 0; rank < case_.ranks; ++rank) {
      if (rank != case_.victim) last = std::max(last, board_[rank].failed_at.load());
    }
    return slow.failed_at < last + short_time;
  }

  /// Only a rank that was too late may have an error: that the others did not wait.
  void judge_trouble(std::uint32_t rank, const std::string& who) {
    const std::string trouble = board_[rank].trouble.data();
    const bool is_late = rank == case_.victim && case_.fault == Fault::slow && !was_in_time();
    if (is_late && case_.ending == Ending::recovers) {
      if (trouble.find("went on without this rank") == std::string::npos) {
        wrong(who + "is not told that the others did not wait: " + trouble);
      }
    } else if (!trouble.empty()) {
      wrong(who + "says: " + trouble);
    }
  }

  [[nodiscard]] ErrorCode expected_code() const {
    switch (case_.fault) {
      case Fault::abort:
        return ErrorCode::aborted;
      case Fault::mismatch:
        return ErrorCode::mismatch;
      case Fault::stop:
      case Fault::slow:
        return ErrorCode::timed_out;
      default:
        return ErrorCode::peer_lost;
    }
  }

  void judge_verdict(const std::string& who, const BoardLine& line) {
    const BoardLine& first = board_[first_judged()];
    if (std::strcmp(line.verdict.data(), first.verdict.data()) != 0 ||
        line.blamed != first.blamed) {
      wrong(who + "has another verdict: \"" + line.verdict.data() + "\" and not \"" +
            first.verdict.data() + "\"");
    }
    // If a connection is broken, either end may be at fault. If ranks make different calls, the
    // minority is blamed; if both sides are equal, all are. If no two calls are equal, any rank may
    // be.
    const std::uint32_t victim = 1U << case_.victim;
    const bool is_right = case_.difference == Difference::counts ? line.blamed != 0
                          : case_.fault == Fault::mismatch       ? (line.blamed & victim) != 0
                                                                 : line.blamed == victim;
    if (case_.fault != Fault::hang_up && !is_right) {
      wrong(who + "blames " + std::to_string(line.blamed) + " (bits): " + line.verdict.data());
    }
    if (case_.fault == Fault::mismatch) judge_quotes(who, line.verdict.data());
  }

  void judge_quotes(const std::string& who, const std::string& words) {
    if (words.find(" makes ") == std::string::npos || words.find(", but ") == std::string::npos) {
      wrong(who + "is not told both calls: " + words);
    }
  }

  void judge_group(const std::string& who, const BoardLine& line) {
    const bool is_lost = case_.takes_life() || (case_.keeps_waiting() && !was_in_time());
    std::uint32_t gone = is_lost ? 1U << case_.victim : 0;
    if (case_.second) gone |= 1U << case_.second_victim();
    for (std::uint32_t rank = 0; rank < case_.ranks; ++rank) {
      if (is_unharmed(rank)) gone |= 1U << rank;
    }
    std::uint32_t found = line.gone;
    if (case_.second) {
      // It may end only after all others; or some ranks finish and leave while others are still in
      // the last call and go on without them.
      found &= ~was_through_before(line);
      found |= 1U << case_.second_victim();
    }
    if (line.recovered_at > 0 && found != gone) {
      wrong(who + "goes on without " + std::to_string(found) + " (bits), not " +
            std::to_string(gone));
    }
  }

  /// The ranks that had recovered before this one, as bits.
  [[nodiscard]] std::uint32_t was_through_before(const BoardLine& line) const {
    std::uint32_t ranks = 0;
    for (std::uint32_t rank = 0; rank < case_.ranks; ++rank) {
      const std::int64_t at = board_[rank].recovered_at;
      if (at > 0 && at < line.recovered_at) ranks |= 1U << rank;
    }
    return ranks;
  }

  [[nodiscard]] std::uint32_t first_judged() const {
    std::uint32_t rank = 0;
    while (rank + 1 < case_.ranks && !is_judged(rank)) ++rank;
    return rank;
  }

  void judge_times() {
    std::int64_t failed = 0;
    std::int64_t called = 0;
    std::int64_t recovered = 0;
    double overdue = 0;
    const double timeout = 1e-3 * static_cast<double>(case_.call_timeout().count());
    for (std::uint32_t rank = 0; rank < case_.ranks; ++rank) {
      if (!is_judged(rank)) continue;
      // A slow rank gets the error when it calls.
      if (rank == case_.victim && case_.fault == Fault::slow) continue;
      const BoardLine& line = board_[rank];
      failed = std::max(failed, line.failed_at.load());
      called = std::max(called, line.called_at.load());
      recovered = std::max(recovered, line.recovered_at.load());
      if (line.called_at == 0) continue;
      overdue =
          std::max(overdue, 1e-9 * static_cast<double>(line.failed_at - line.called_at) - timeout);
    }
    const std::int64_t fault = std::max(board_[case_.victim].fault_at.load(), called);
    // If others wait for a rank until the deadline, only the time after the deadline counts.
    result_.detection_s =
        case_.keeps_waiting()
            ? overdue
            : 1e-9 * static_cast<double>(std::max<std::int64_t>(failed - fault, 0));
    if (recovered > 0) result_.recovery_s = 1e-9 * static_cast<double>(recovered - failed);
    // Calls that only wait for each other are compared after 1 s.
    const double limit = notice_s + (case_.fault == Fault::mismatch ? notice_s : 0);
    if (result_.detection_s > limit * patience_) {
      wrong("noticed after " + std::to_string(result_.detection_s) + " s");
    }
    if (result_.recovery_s > patience_ * recover_s) {
      wrong("recovered after " + std::to_string(result_.recovery_s) + " s");
    }
  }

  void wrong(const std::string& what) { result_.wrong.push_back(what); }

  const FaultCase& case_;
  const Board& board_;
  double patience_;
  CaseResult result_{};
};

}  // namespace

CaseResult judge_call(const FaultCase& fault_case, const Board& board, double patience) {
  return Judge(fault_case, board, patience).judge();
}

}  // namespace tutti::test
