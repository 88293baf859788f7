#include "faults/scenarios/freeze.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "faults/scenarios/promised_times.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr std::array<const char*, 4> deeds{"all_reduce", "barrier", "duplicate", "split"};

void call(Communicator& communicator, std::uint64_t deed) {
  std::vector<float> data(1000, 1);
  switch (deed) {
    case 0:
      return communicator.all_reduce(data);
    case 1:
      return communicator.barrier();
    case 2:
      (void)communicator.duplicate();
      return;
    default:
      (void)communicator.split(communicator.rank() / 2);
      return;
  }
}

std::uint64_t deed_of(const FaultCase& fault_case) { return fault_case.trial.count; }

std::uint32_t bits_of(const std::vector<std::uint32_t>& ranks) {
  std::uint32_t bits = 0;
  for (const std::uint32_t rank : ranks) bits |= 1U << rank;
  return bits;
}

/// A new communicator may fail only when it is used.
void call_until_it_fails(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  constexpr std::int64_t long_enough_ns = 10'000'000'000;
  const std::int64_t begun = now_ns();
  while (now_ns() - begun < long_enough_ns) {
    line.called_at = now_ns();
    call(communicator, deed_of(fault_case));
  }
  note(line.trouble, "nothing has failed");
}

void recover(Communicator& communicator, BoardLine& line) {
  line.stage = Stage::shrinking;
  Regrouped shrunk = communicator.shrink();
  line.gone = bits_of(shrunk.gone);
  std::vector<float> data(1000, 1);
  shrunk.communicator->all_reduce(data);
  line.recovered_at = now_ns();
  line.left = shrunk.communicator->size();
  if (data[999] != static_cast<float>(line.left)) note(line.trouble, "a wrong sum");
  shrunk.communicator->barrier();
}

}  // namespace

void draw_freeze(Random& random, FaultCase& drawn) {
  if (drawn.ground == Ground::threads) drawn.ground = Ground::memory;  // Threads stop together.
  drawn.fault = Fault::stop;
  drawn.ranks = std::max(drawn.ranks, 3U);
  drawn.stopped = 1 + random.below(drawn.ranks - 1);
  drawn.trial.count = random.below(std::uint64_t{deeds.size()});
  drawn.continues = random.one_in(2);
  drawn.delay = std::chrono::microseconds(random.one_in(2) ? 0 : random.below(5000U));
  drawn.group_timeout = 800ms;
}

void play_freeze(Communicator& communicator, const FaultCase& fault_case, BoardLine& line) {
  communicator.barrier({.timeout = 6000ms});
  line.stage = Stage::calling;
  if (fault_case.is_stopped(communicator.rank())) {
    std::thread timer([&] {
      std::this_thread::sleep_for(fault_case.delay);
      line.fault_at = now_ns();
      kill(getpid(), SIGSTOP);
    });
    if (fault_case.delay == 0us) timer.join();
    try {
      call_until_it_fails(communicator, fault_case, line);
    } catch (const Error&) {
      // It gets some error.
    }
    if (timer.joinable()) timer.join();
    line.stage = Stage::done;
    return;
  }
  try {
    call_until_it_fails(communicator, fault_case, line);
  } catch (const Error& error) {
    line.failed_at = now_ns();
    line.code = static_cast<int>(error.code());
    const Verdict verdict = communicator.verdict().value_or(Verdict{});
    line.blamed = bits_of(verdict.ranks);
    note(line.verdict, verdict.words);
    recover(communicator, line);
  }
  line.stage = Stage::done;
}

CaseResult judge_freeze(const FaultCase& fault_case, const Board& board, double patience) {
  CaseResult result;
  std::uint32_t stopped = 0;
  const BoardLine* first = nullptr;
  std::int64_t failed = 0;
  std::int64_t recovered = 0;
  const auto wrong = [&](std::uint32_t rank, const std::string& what) {
    result.wrong.push_back("rank " + std::to_string(rank) + " " + what);
  };
  for (std::uint32_t rank = 0; rank < fault_case.ranks; ++rank) {
    if (fault_case.is_stopped(rank)) stopped |= 1U << rank;
  }
  for (std::uint32_t rank = 0; rank < fault_case.ranks; ++rank) {
    if (fault_case.is_stopped(rank)) continue;
    const BoardLine& line = board[rank];
    if (first == nullptr) first = &line;
    const std::string verdict = line.verdict.data();
    if (line.stage != Stage::done) {
      wrong(rank, "has only reached the stage " + std::string(name(line.stage.load())));
    }
    if (line.trouble[0] != '\0') wrong(rank, std::string("says: ") + line.trouble.data());
    if (line.code != static_cast<int>(ErrorCode::timed_out)) wrong(rank, "got " + verdict);
    if (line.blamed != stopped) wrong(rank, "blames others: " + verdict);
    if (verdict != first->verdict.data()) wrong(rank, "has another verdict: " + verdict);
    if (line.gone != stopped) wrong(rank, "goes on without other ranks than the stopped ones");
    failed = std::max(failed, line.failed_at.load());
    recovered = std::max(recovered, line.recovered_at.load());
    const auto deadline = line.called_at + fault_case.group_timeout / 1ns;
    result.detection_s =
        std::max(result.detection_s, 1e-9 * static_cast<double>(line.failed_at - deadline));
  }
  result.recovery_s = 1e-9 * static_cast<double>(recovered - failed);
  if (result.detection_s > notice_s * patience) {
    result.wrong.push_back("noticed after " + std::to_string(result.detection_s) + " s");
  }
  if (result.recovery_s > recover_s * patience) {
    result.wrong.push_back("recovered after " + std::to_string(result.recovery_s) + " s");
  }
  return result;
}

std::string freeze_words(const FaultCase& drawn) {
  return std::to_string(drawn.stopped) + " stopped after " + std::to_string(drawn.delay.count()) +
         " us, " + deeds[deed_of(drawn)] +
         (drawn.continues ? ", go on later" : ", are killed later");
}

std::string freeze_label(const FaultCase& drawn) {
  return "freeze in " + std::string(deeds[deed_of(drawn)]);
}

}  // namespace tutti::test
