#include "lifeline/consensus.hpp"

#include <numeric>

#include <tutti/error.hpp>

#include "core/json.hpp"
#include "core/packed_texts.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// Much longer than ranks take to reach a verdict, even if several fall silent one after another.
constexpr auto verdict_time = 30s;
constexpr auto between_looks = 100ms;

/// Waits until `is_so` holds or `time` has passed; returns is_so(). Time in which this process does
/// not run counts little: when it runs again, the answer may have arrived already.
template <class Predicate>
bool wait_while_running(Lifeline::Locked& state, Lifeline::Clock::duration time,
                        Predicate&& is_so) {
  for (Lifeline::Clock::duration waited{}; waited < time; waited += between_looks) {
    if (state.wait_for(between_looks, is_so)) return true;
  }
  return is_so();
}

}  // namespace

Consensus::Consensus(std::shared_ptr<Lifeline> lifeline, const Config& config,
                     std::atomic<bool>& alarm, Participant& participant)
    : lifeline_(std::move(lifeline)),
      communicator_(config.communicator),
      self_(config.self),
      ranks_(static_cast<std::uint32_t>(config.members.size())),
      patience_(config.patience) {
  lifeline_->open(config, alarm, participant);
}

Consensus::~Consensus() { lifeline_->close(communicator_); }

std::optional<AgreedVerdict> Consensus::verdict() const { return state()->verdict(); }

std::map<std::uint32_t, std::uint64_t> Consensus::left() const { return state()->left(); }

bool Consensus::is_gone(std::uint32_t rank) const { return state()->is_gone(rank); }

void Consensus::report(const Report& report) { state()->report(report, Clock::now()); }

bool Consensus::has_failed() {
  Lifeline::Locked state = this->state();
  wait_while_running(state, verdict_time, [&] { return !state->expects_verdict(); });
  return state->verdict().has_value();
}

AgreedVerdict Consensus::await_verdict() {
  Lifeline::Locked state = this->state();
  wait_while_running(state, verdict_time,
                     [&] { return state->is_verdict_confirmed(Clock::now()); });
  return state->settle();
}

void Consensus::compare(std::uint64_t call) { state()->compare(call); }

void Consensus::inquire(std::span<const std::uint32_t> ranks) { state()->inquire(ranks); }

void Consensus::stop_after(std::uint64_t call) { state()->stop_after(call); }

GroupState::Prospects Consensus::prospects(std::uint64_t call,
                                           std::span<const std::uint32_t> awaited) {
  Lifeline::Locked state = this->state();
  if (state->verdict()) state->inquire(awaited);
  return state->prospects(call, awaited);
}

void Consensus::leave(std::uint64_t calls, const std::map<std::uint32_t, std::uint64_t>& messages) {
  state()->leave(calls, messages);
}

std::optional<std::uint64_t> Consensus::messages_of_leaver(std::uint32_t rank) const {
  return state()->messages_of_leaver(rank);
}

void Consensus::decline(std::uint64_t communicator, std::span<const std::uint32_t> members) {
  lifeline_->decline(communicator, members);
}

std::uint32_t Consensus::questions() const { return state()->questions(); }

bool Consensus::is_next_asked() const { return state()->is_next_asked(); }

std::map<std::uint32_t, std::string> Consensus::agree(const std::string& input) {
  std::vector<std::uint32_t> all(ranks_);
  std::iota(all.begin(), all.end(), 0);
  return agree(input, all);
}

std::map<std::uint32_t, std::string> Consensus::agree(const std::string& input,
                                                      std::span<const std::uint32_t> among) {
  Lifeline::Locked state = this->state();
  const std::uint32_t question = state->ask(input, among, Clock::now());
  const bool is_decided = wait_while_running(state, patience_ + verdict_time,
                                             [&] { return state->decision(question).has_value(); });
  if (!is_decided) {
    throw Error(ErrorCode::timed_out, "rank " + std::to_string(self_) +
                                          ": the remaining ranks did not reach an agreement");
  }
  const JsonReader decision = JsonReader::parse(*state->decision(question));
  std::map<std::uint32_t, std::string> inputs;
  for (const auto& [rank, text] : decision.members()) {
    inputs.emplace(std::stoul(rank), text.get<std::string>());
  }
  return inputs;
}

std::vector<std::string> Consensus::exchange(std::span<const std::uint32_t> ranks,
                                             std::uint32_t round, const std::string& contribution) {
  const std::string where = "rank " + std::to_string(self_) + ": ";
  Lifeline::Locked state = this->state();
  state->contribute(ranks, round, contribution);
  std::optional<std::string> packed;
  const bool is_over = state.wait_for(patience_, [&] {
    packed = state->exchanged(ranks, round);
    return packed || state->lacks_any(ranks);
  });
  if (!packed) {
    if (is_over) {
      throw Error(ErrorCode::peer_lost,
                  where + "another rank was lost while a new communicator was made");
    }
    throw Error(
        ErrorCode::timed_out,
        where + "the remaining ranks did not all take part in the new communicator in time");
  }
  auto contributions = unpack(*packed);
  if (!contributions) {
    throw Error(ErrorCode::mismatch,
                where +
                    "contributions of the other ranks are malformed: use the same version of "
                    "tutti on all ranks");
  }
  return *std::move(contributions);
}

}  // namespace tutti
