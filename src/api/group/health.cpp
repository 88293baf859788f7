#include "api/group/health.hpp"

#include <thread>
#include <utility>

#include "core/quantity.hpp"
#include "core/shortened.hpp"

namespace tutti {

Health::Health(const Setup& setup)
    : self_(setup.membership.self),
      members_(setup.membership.members),
      fabric_(setup.fabric),
      port_(setup.port),
      box_(setup.box),
      timeout_(setup.timeout),
      while_waiting_(setup.while_waiting),
      completed_(setup.completed),
      done_(setup.completed) {
  if (members_.size() == 1) return;
  Participant& participant = *this;
  consensus_ =
      std::make_unique<Consensus>(fabric_->lifeline(),
                                  Consensus::Config{.communicator = setup.membership.context,
                                                    .self = self_.index(),
                                                    .members = members_,
                                                    .patience = timeout_},
                                  raised, participant);
}

void Health::leave() {
  if (consensus_) consensus_->leave(calls_);
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
    raised.store(true);
    stop();
  }
  return *own_verdict_;
}

Error Health::settle(const Error& error, const std::string& call, const Stall& stall) {
  if (!stall.ranks.empty()) {
    box_.recorder().note_wait(
        {.rank = stall.ranks.front(), .round = stall.round, .bytes_done = stall.bytes_done});
  }
  const Verdict verdict =
      agree_on_verdict({.code = error.code(),
                        .ranks = error.code() == ErrorCode::aborted ? std::vector{self_.index()}
                                 : leaver_                          ? std::vector{*leaver_}
                                                                    : stall.ranks,
                        .call = calls_,
                        .words = call + ": " + error.what()});
  stand_down();
  has_been_told_.store(true);
  const std::string message = call + ": " + verdict.words;
  box_.fail_call(message);
  return {verdict.code, message};
}

/// Calls of other threads run on: they get the verdict by themselves.
Error Health::settle_message(const Error& error, const std::string& what,
                             std::vector<std::uint32_t> suspects) {
  const Verdict verdict =
      agree_on_verdict({.code = error.code(),
                        .ranks = error.code() == ErrorCode::aborted ? std::vector{self_.index()}
                                                                    : std::move(suspects),
                        .call = 0,
                        .words = what + ": " + error.what()});
  has_been_told_.store(true);
  const std::string message = what + ": " + verdict.words;
  box_.fail(message);
  return {verdict.code, message};
}

bool Health::has_left(std::uint32_t rank) const {
  if (!consensus_) return false;
  consensus_->inquire({&rank, 1});
  return consensus_->left().contains(rank);
}

bool Health::has_ended(std::uint32_t rank) const {
  return fabric_->lifeline() && fabric_->lifeline()->is_lost(members_[rank]);
}

bool Health::has_stood_down(std::uint32_t rank) const { return port_.has_stood_down(Rank{rank}); }

Error Health::giving_up(const char* why) const {
  return {ErrorCode::aborted, "rank " + std::to_string(self_.index()) +
                                  " gave up: its own code threw " + std::string(why)};
}

/// The caller may free its memory when the call returns, so no rank may still access it. It does
/// not wait longer for a rank that hangs: that rank will find that what it has read is not valid,
/// and what it writes has no effect.
void Health::stand_down() {
  constexpr std::chrono::seconds long_enough{1};
  constexpr std::chrono::microseconds between_looks{100};
  port_.abandon();
  port_.stand_down();
  if (!consensus_) return;
  const auto is_gone = [&](Rank rank) { return consensus_->is_gone(rank.index()); };
  const Clock::time_point end = Clock::now() + long_enough;
  while (port_.is_lending(is_gone) && Clock::now() < end) {
    std::this_thread::sleep_for(between_looks);
  }
  port_.revoke_windows();
}

void Health::refuse() {
  // All ranks know the verdict before this rank's program may end.
  const Verdict verdict =
      consensus_ ? consensus_->await_verdict().verdict : this->verdict().value_or(Verdict{});
  const std::string own = "rank " + std::to_string(self_.index()) + ": ";
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
                          .ranks = {self_.index()},
                          .words = "rank " + std::to_string(self_.index()) + " aborted it: " +
                                   shortened(reason, most_words - room_for_rank)});
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

/// Another thread asks, perhaps during a call of this rank.
RankStatus Health::status(std::uint64_t about) const {
  const FlightRecorder& recorder = box_.recorder();
  RankStatus status;
  if (const auto last = recorder.latest()) {
    const auto now = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
    status.call = last->number;
    status.words = words(*last);
    status.runs = last->state == FlightRecord::State::running;
    const std::uint64_t since = status.runs ? last->begun_ns : last->ended_ns;
    status.seconds = since == 0 || now < since ? 0 : 1e-9 * static_cast<double>(now - since);
  }
  box_.messages().visit_all([&](const FlightRecord& record) {
    if (record.state != FlightRecord::State::running) return;
    const auto add = [&](std::uint32_t rank, bool receives) {
      if (rank == any_rank || status.waits.size() == RankStatus::most_waits) return;
      status.waits.push_back({.rank = rank, .receives = receives});
    };
    if (record.call.kind != FlightKind::send) add(record.call.from, true);
    if (record.call.kind != FlightKind::receive) add(record.call.root, false);
  });
  if (about == 0) return status;
  status.about = about;
  if (const auto asked = recorder.find(about)) {
    status.signature = asked->call.signature;
    status.asked = words(*asked);
  }
  const std::uint64_t first =
      about > RankStatus::most_earlier ? about - RankStatus::most_earlier : 1;
  for (std::uint64_t number = first; number < about; ++number) {
    if (const auto made = recorder.find(number)) {
      status.earlier.push_back(
          {.call = number, .signature = made->call.signature, .words = words(*made)});
    }
  }
  return status;
}

void Health::stop() {
  // A rank that is in a call stands down when it leaves the call.
  if (gate_.close()) port_.stand_down();
  fabric_->messenger().interrupt();
}

void Health::ring() {
  if (gate_.is_closed()) {
    throw Error(ErrorCode::aborted, "the communicator has failed on another rank");
  }
  for (const auto& [rank, calls] : consensus_->left()) {
    if (calls >= calls_) continue;
    leaver_ = rank;
    throw Error(ErrorCode::peer_lost, "rank " + std::to_string(rank) +
                                          " has left the communicator after " +
                                          in_plural(calls, "call"));
  }
}

void Health::note_wait(std::span<const std::uint32_t> ranks) {
  if (consensus_) consensus_->inquire(ranks);
}

/// If ranks are in different calls with the same number, each waiting for the other, no message
/// will ever show it. So they compare their calls.
void Health::note_stall() {
  if (consensus_) consensus_->compare(calls_);
}

}  // namespace tutti
