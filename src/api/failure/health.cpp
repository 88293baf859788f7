#include "api/failure/health.hpp"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "core/quantity.hpp"
#include "core/shortened.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

}  // namespace

Health::Health(const Setup& setup)
    : self_(setup.membership.self),
      members_(setup.membership.members),
      fabric_(setup.fabric),
      port_(setup.port),
      box_(setup.box),
      timeout_(setup.timeout),
      completed_(setup.completed),
      done_(setup.completed),
      alarm_(gate_, port_, calls_, setup.while_waiting),
      participant_({.gate = gate_,
                    .port = port_,
                    .messenger = fabric_->messenger(),
                    .recorder = box_.recorder(),
                    .messages = setup.messages,
                    .done = done_,
                    .calls = calls_}) {
  if (members_.size() == 1) return;
  consensus_ =
      std::make_unique<Consensus>(fabric_->lifeline(),
                                  Consensus::Config{.communicator = setup.membership.context,
                                                    .self = self_,
                                                    .members = members_,
                                                    .patience = timeout_},
                                  alarm_.raised, participant_);
  alarm_.set_consensus(*consensus_);
}

void Health::leave(const std::map<std::uint32_t, std::uint64_t>& messages) {
  if (consensus_) consensus_->leave(calls_, messages);
}

void Health::require_usable() {
  if (gate_.is_closed()) refuse();
}

// Failing ---------------------------------------------------------------------------------------

Verdict Health::agree_on_verdict(const Report& report) {
  if (consensus_) {
    consensus_->report(report);
    return consensus_->await_verdict().verdict;
  }
  const std::lock_guard lock(own_verdict_mutex_);
  if (!own_verdict_) {
    own_verdict_ = Verdict{.code = report.code, .ranks = report.ranks, .words = report.words};
    // As GroupState does it: receives of messages from this rank itself may wait.
    alarm_.raised.store(true);
    (void)participant_.stop();
  }
  return *own_verdict_;
}

Error Health::settle(const Error& error, const std::string& call, const Stall& stall) {
  if (!stall.ranks.empty()) {
    box_.recorder().note_wait(
        {.rank = stall.ranks.front(), .round = stall.round, .bytes_done = stall.bytes_done});
  }
  // Before the verdict: other ranks may be in the same call and wait for this one.
  if (consensus_) consensus_->stop_after(calls_ - 1);
  const Verdict verdict =
      agree_on_verdict({.code = error.code(),
                        .ranks = error.code() == ErrorCode::aborted ? std::vector{self_}
                                 : alarm_.leaver()                  ? std::vector{*alarm_.leaver()}
                                                                    : stall.ranks,
                        .call = calls_,
                        .words = call + ": " + error.what()});
  revoke();
  has_been_told_.store(true);
  const std::string message = call + ": " + verdict.words;
  box_.fail_call(message);
  return {verdict.code, message};
}

/// Calls of other threads run on: they get the verdict by themselves.
Error Health::settle_message(const Error& error, const std::string& what,
                             std::vector<std::uint32_t> suspects) {
  return give_up(error, what, std::move(suspects));
}

Error Health::give_up(const Error& error, const std::string& what,
                      std::vector<std::uint32_t> suspects) {
  const Verdict verdict = agree_on_verdict(
      {.code = error.code(),
       .ranks = error.code() == ErrorCode::aborted ? std::vector{self_} : std::move(suspects),
       .call = 0,
       .words = what + ": " + error.what()});
  has_been_told_.store(true);
  const std::string message = what + ": " + verdict.words;
  box_.fail(message);
  return {verdict.code, message};
}

void Health::inquire(std::uint32_t rank) {
  if (consensus_) consensus_->inquire({&rank, 1});
}

std::optional<std::uint64_t> Health::messages_of_leaver(std::uint32_t rank) const {
  return consensus_ ? consensus_->messages_of_leaver(rank) : std::nullopt;
}

bool Health::has_ended(std::uint32_t rank) const {
  return fabric_->lifeline() && fabric_->lifeline()->is_lost(members_[rank]);
}

bool Health::has_revoked(std::uint32_t rank) const { return port_.has_revoked(rank); }

Error Health::giving_up(const char* why) const {
  return {ErrorCode::aborted,
          "rank " + std::to_string(self_) + " gave up: its own code threw " + std::string(why)};
}

/// The caller may free its memory when the call returns, so no rank may still access it. It does
/// not wait longer for a rank that hangs: that rank will find that what it has read is not valid,
/// and what it writes has no effect.
void Health::revoke() {
  constexpr auto long_enough = 1s;
  constexpr auto between_looks = 100us;
  port_.revoke();
  if (!consensus_) return port_.abandon();
  const auto is_gone = [&](Rank rank) { return consensus_->is_gone(rank); };
  const Clock::time_point end = Clock::now() + long_enough;
  while (port_.is_exposed(is_gone) && Clock::now() < end) {
    std::this_thread::sleep_for(between_looks);
  }
  port_.abandon();
}

void Health::refuse() {
  // All ranks know the verdict before this rank's program may end.
  const Verdict verdict =
      consensus_ ? consensus_->await_verdict().verdict : this->verdict().value_or(Verdict{});
  const std::string own = "rank " + std::to_string(self_) + ": ";
  if (!has_been_told_.exchange(true)) {
    box_.fail(verdict.words);
    throw Error(verdict.code, own + "before this call began, " + verdict.words);
  }
  throw Error(ErrorCode::aborted, own + "this communicator can no longer be used, since " +
                                      verdict.words +
                                      "; create a new one, or continue with shrink()");
}

void Health::abort(const std::string& reason) {
  constexpr std::size_t room_for_rank = 64;
  (void)agree_on_verdict({.code = ErrorCode::aborted,
                          .ranks = {self_},
                          .words = "rank " + std::to_string(self_) + " aborted it: " +
                                   shortened(reason, most_words - room_for_rank)});
}

/// A rank that has left fails no call that does not need it. If this rank wants to go on without
/// it, all do.
bool Health::has_failed() {
  if (!consensus_) return verdict().has_value();
  if (consensus_->has_failed()) return true;
  const std::map<std::uint32_t, std::uint64_t> left = consensus_->left();
  if (left.empty()) return false;
  const auto& [rank, calls] = *left.begin();
  (void)agree_on_verdict(
      {.code = ErrorCode::peer_lost,
       .ranks = {rank},
       .words = "it has left the communicator after " + in_plural(calls, "call")});
  return true;
}

/// A rank that shrank alone would wait for all others, which know of no failure, and would then
/// go on without them.
void Health::require_failure() {
  if (has_failed()) return;
  throw Error(ErrorCode::invalid_argument,
              "rank " + std::to_string(self_) +
                  ": shrink() is for a communicator that has failed, and this one has not failed: "
                  "go on using it; to make all ranks shrink it, call abort() first; to leave out "
                  "ranks that live, use split()");
}

std::optional<Verdict> Health::verdict() const {
  if (!consensus_) {
    const std::lock_guard lock(own_verdict_mutex_);
    return own_verdict_;
  }
  const std::optional<AgreedVerdict> agreed = consensus_->verdict();
  return agreed ? std::optional(agreed->verdict) : std::nullopt;
}

void Health::set_completed(std::uint64_t calls) {
  completed_ = calls;
  done_.set(calls);
}

void Health::note_done(std::uint64_t call) {
  if (!done_.advance(call)) refuse();
}

bool Health::accept_completed(std::uint64_t call) {
  if (!consensus_) return false;
  const std::optional<AgreedVerdict> agreed = consensus_->verdict();
  if (!agreed || agreed->completed < call) return false;
  set_completed(call);
  has_been_told_.store(false);
  return true;
}

/// There is a verdict, and this rank is in no call any more.
void Health::retire() {
  port_.revoke();
  if (consensus_) consensus_->stop_after(calls_);
}

}  // namespace tutti
