#include "lifeline/group_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/packed_texts.hpp"
#include "core/shortened.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// How often a rank sends its status, to how many of the lowest ranks, one of which will probably
/// be the proposer of the verdict, and to how many that follow it, which are connected to it.
constexpr auto between_statuses = 1s;
constexpr std::uint32_t status_readers = 2;

/// To how many of the ranks that it waits for a rank connects at a time. It need not ask all: one
/// rank at least knows of each that has left, and its call fails on all.
constexpr std::uint32_t most_inquired = 4;

}  // namespace

GroupState::GroupState(Config config, Environment environment, std::atomic<bool>& alarm,
                       Participant& participant)
    : config_(std::move(config)),
      environment_(std::move(environment)),
      alarm_(alarm),
      participant_(participant) {}

// Events ----------------------------------------------------------------------------------------

void GroupState::receive(std::uint32_t member, const ControlMessage& message,
                         Clock::time_point now) {
  const auto rank = rank_of(member);
  if (!rank) return;
  switch (message.kind) {
    case ControlMessage::Kind::leave:
      left_.emplace(*rank, read_leave(message.body).calls);
      messages_of_left_.emplace(*rank, read_leave(message.body).messages);
      alarm_.store(true);
      participant_.wake();
      note_absence(*rank, now);
      return;
    case ControlMessage::Kind::stopped:
      stopped_.emplace(*rank, std::strtoull(message.body.c_str(), nullptr, 10));
      if (verdict_) participant_.wake();
      return;
    case ControlMessage::Kind::contribution:
      if (message.question < first_round_) return;
      rounds_[message.question].contributions[*rank] = message.body;
      return;
    case ControlMessage::Kind::contributions:
      if (message.question < first_round_) return;
      rounds_[message.question].result = message.body;
      return;
    case ControlMessage::Kind::status:
      seen_[*rank] = read_rank_status(message.body);
      compare_with(*rank, seen_[*rank], now);
      // It may ask because it waits for this rank: see inquire().
      if (calls_at_leaving_) send_leave(*rank);
      if (stopped_after_) send_stopped(*rank);
      return;
    default:
      agreement(message.question, now)
          .receive(*rank, message.kind, message.ballot, message.body, now);
      look_for_verdict();
      environment_.request_ticks();
  }
}

void GroupState::lose(std::uint32_t member, const std::string& why, Clock::time_point now) {
  const auto rank = rank_of(member);
  if (!rank || left_.contains(*rank)) return;
  gone_.emplace(*rank, why);
  note_absence(*rank, now);
  // Ranks that wait for it would wait until their deadline.
  report({.code = ErrorCode::peer_lost, .ranks = {*rank}, .words = why}, now);
  if (verdict_) participant_.wake();
}

bool GroupState::expects(std::uint32_t member) const {
  const auto rank = rank_of(member);
  return rank && !gone_.contains(*rank) && !left_.contains(*rank);
}

bool GroupState::tick(Clock::time_point now) {
  bool soon = false;
  for (auto& [question, agreement] : agreements_) {
    agreement.tick(now);
    soon = soon || !agreement.is_confirmed(now);
  }
  look_for_verdict();
  share_status(now);
  return soon;
}

void GroupState::note_absence(std::uint32_t rank, Clock::time_point now) {
  for (auto& [question, agreement] : agreements_) agreement.lose(rank, now);
  look_for_verdict();
}

std::optional<std::uint32_t> GroupState::rank_of(std::uint32_t member) const {
  // In the first communicator of a group, ranks are members.
  if (member < size() && config_.members[member] == member) return member;
  const auto found = std::find(config_.members.begin(), config_.members.end(), member);
  if (found == config_.members.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - config_.members.begin());
}

void GroupState::send(std::uint32_t rank, ControlMessage message, Delivery delivery) {
  if (rank == config_.self) return;
  message.communicator = config_.communicator;
  environment_.send(config_.members[rank], message, delivery);
}

// The verdict -----------------------------------------------------------------------------------

void GroupState::report(Report report, Clock::time_point now) {
  if (verdict_ || own_report_) return;
  report.words = shortened(report.words);
  own_report_ = report;
  agreement(verdict_question, now)
      .submit(write(report), std::to_string(report.call), now,
              report.code == ErrorCode::timed_out ? Agreement::Urgency::urgent
                                                  : Agreement::Urgency::usual);
  look_for_verdict();
  environment_.request_ticks();
}

bool GroupState::is_verdict_confirmed(Clock::time_point now) const {
  if (!verdict_) return false;
  const auto found = agreements_.find(verdict_question);
  const bool is_own = found == agreements_.end() || !found->second.decision();
  return is_own || found->second.is_confirmed(now);
}

const AgreedVerdict& GroupState::settle() {
  if (!verdict_) {
    const Report own = own_report_.value_or(Report{.words = "no rank reported what went wrong"});
    adopt({.verdict = {.code = own.code, .ranks = own.ranks, .words = own.words},
           .completed = participant_.seal()});
  }
  return *verdict_;
}

void GroupState::look_for_verdict() {
  if (verdict_) return;
  const auto found = agreements_.find(verdict_question);
  if (found == agreements_.end() || !found->second.decision()) return;
  const std::optional<AgreedVerdict> read = read_agreed_verdict(*found->second.decision());
  adopt(read.value_or(AgreedVerdict{.verdict = {.words = "the agreed verdict is malformed"}}));
}

void GroupState::adopt(const AgreedVerdict& verdict) {
  verdict_ = verdict;
  for (auto& [question, agreement] : agreements_) {
    if (question != verdict_question) suspect_late_ranks(agreement);
  }
  (void)participant_.seal();
  alarm_.store(true);
  if (const std::optional<std::uint64_t> last = participant_.stop()) stop_after(*last);
}

void GroupState::compare(std::uint64_t call) {
  if (verdict_) return;
  const std::string own = write(participant_.status(call));
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    send(rank, {.kind = ControlMessage::Kind::status, .body = own}, Delivery::if_connected);
  }
}

/// Reports a mismatch if this rank made another call under the number that `rank` asks about.
void GroupState::compare_with(std::uint32_t rank, const RankStatus& other, Clock::time_point now) {
  if (verdict_ || other.asked.empty()) return;
  const RankStatus own = participant_.status(other.about);
  if (own.asked.empty() || own.signature == other.signature) return;
  report({.code = ErrorCode::mismatch,
          .ranks = {rank},
          .call = other.about,
          .words = "this rank makes " + own.asked},
         now);
}

void GroupState::share_status(Clock::time_point now) {
  if (verdict_ || calls_at_leaving_ || now - status_sent_at_ < between_statuses) return;
  status_sent_at_ = now;
  const RankStatus status = participant_.status(0);
  if (status.call == status_sent_call_) return;
  status_sent_call_ = status.call;
  std::set<std::uint32_t> readers;
  for (std::uint32_t i = 0; i < status_readers; ++i) {
    readers.insert(i % size());
    readers.insert((config_.self + 1 + i) % size());
  }
  for (const std::uint32_t rank : readers) {
    send(rank, {.kind = ControlMessage::Kind::status, .body = write(status)},
         Delivery::if_connected);
  }
}

// Ranks that leave ------------------------------------------------------------------------------

void GroupState::leave(std::uint64_t calls,
                       const std::map<std::uint32_t, std::uint64_t>& messages) {
  if (calls_at_leaving_) return;
  messages_at_leaving_ = messages;
  calls_at_leaving_ = std::min(calls, stopped_after_.value_or(calls));
  for (const auto& [question, agreement] : agreements_) agreement.rebroadcast();
  // One rank at least must know: then a later call fails on all.
  const std::uint32_t next = (config_.self + 1) % size();
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    send_leave(rank, rank == next && !is_gone(rank) ? Delivery::connects : Delivery::if_connected);
  }
}

void GroupState::send_leave(std::uint32_t rank, Delivery delivery) {
  Leave leave{.calls = *calls_at_leaving_};
  if (const auto sent = messages_at_leaving_.find(rank); sent != messages_at_leaving_.end()) {
    leave.messages = sent->second;
  }
  send(rank, {.kind = ControlMessage::Kind::leave, .body = write(leave)}, delivery);
}

LeaveOfAll GroupState::told_at_leaving() const {
  LeaveOfAll told{.calls = *calls_at_leaving_};
  for (const auto& [rank, messages] : messages_at_leaving_) {
    told.messages.emplace(config_.members[rank], messages);
  }
  return told;
}

std::optional<std::uint64_t> GroupState::messages_of_leaver(std::uint32_t rank) const {
  const auto found = messages_of_left_.find(rank);
  return found == messages_of_left_.end() ? std::nullopt : std::optional(found->second);
}

/// Once is enough: from then on the two are connected, or the other is lost. The ranks that follow
/// this one come first, so that not all ranks ask the same.
void GroupState::inquire(std::span<const std::uint32_t> ranks) {
  std::vector<std::uint32_t> in_order(ranks.begin(), ranks.end());
  const auto distance = [&](std::uint32_t rank) { return (rank + size() - config_.self) % size(); };
  std::sort(in_order.begin(), in_order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return distance(a) < distance(b); });
  in_order.resize(std::min<std::size_t>(in_order.size(), most_inquired));
  for (const std::uint32_t rank : in_order) {
    if (rank >= size() || is_gone(rank) || !inquired_.insert(rank).second) continue;
    send(rank, {.kind = ControlMessage::Kind::status, .body = write(participant_.status(0))},
         Delivery::if_not_connected);
  }
}

// Calls that run while there is a verdict ------------------------------------------------------

void GroupState::stop_after(std::uint64_t call) {
  if (stopped_after_) return;
  stopped_after_ = call;
  for (std::uint32_t rank = 0; rank < size(); ++rank) send_stopped(rank);
}

void GroupState::send_stopped(std::uint32_t rank) {
  send(rank, {.kind = ControlMessage::Kind::stopped, .body = std::to_string(*stopped_after_)},
       Delivery::if_connected);
}

GroupState::Prospects GroupState::prospects(std::uint64_t call,
                                            std::span<const std::uint32_t> awaited) const {
  Prospects found;
  for (const auto& [rank, calls] : left_) {
    if (!verdict_ && !found.leaver && calls < call) found.leaver = rank;
  }
  if (!verdict_) return found;
  const auto is_before_call = [&](const std::map<std::uint32_t, std::uint64_t>& last,
                                  std::uint32_t rank) {
    const auto place = last.find(rank);
    return place != last.end() && place->second < call;
  };
  const std::vector<std::uint32_t>& at_fault = verdict_->verdict.ranks;
  found.is_hopeless = verdict_->verdict.code != ErrorCode::peer_lost;
  for (const std::uint32_t rank : awaited) {
    if (is_before_call(stopped_, rank) || is_before_call(left_, rank)) found.is_hopeless = true;
    const bool is_at_fault = std::find(at_fault.begin(), at_fault.end(), rank) != at_fault.end();
    if (is_at_fault || is_gone(rank)) found.ended.push_back(rank);
  }
  return found;
}

bool GroupState::is_gone(std::uint32_t rank) const {
  if (gone_.contains(rank) || left_.contains(rank)) return true;
  if (!verdict_) return false;
  const std::vector<std::uint32_t>& unresponsive = verdict_->unresponsive;
  return std::find(unresponsive.begin(), unresponsive.end(), rank) != unresponsive.end();
}

// Questions and exchanges -----------------------------------------------------------------------

std::uint32_t GroupState::ask(const std::string& input, std::span<const std::uint32_t> among,
                              Clock::time_point now) {
  const std::uint32_t question = ++questions_;
  Agreement& agreement = this->agreement(question, now);
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    const bool is_asked = std::find(among.begin(), among.end(), rank) != among.end();
    if (!is_asked) agreement.lose(rank, now);
  }
  agreement.submit(input, "", now);
  environment_.request_ticks();
  return question;
}

void GroupState::contribute(std::span<const std::uint32_t> ranks, std::uint32_t round,
                            const std::string& contribution) {
  end_rounds_before(round);
  if (ranks.front() == config_.self) {
    rounds_[round].contributions[config_.self] = contribution;
  } else {
    send(ranks.front(),
         {.kind = ControlMessage::Kind::contribution, .question = round, .body = contribution},
         Delivery::connects);
  }
}

std::optional<std::string> GroupState::exchanged(std::span<const std::uint32_t> ranks,
                                                 std::uint32_t round) {
  const auto found = rounds_.find(round);
  if (found == rounds_.end()) return std::nullopt;
  std::optional<std::string> result = std::move(found->second.result);
  if (ranks.front() == config_.self) {
    std::vector<std::string> all;
    for (const std::uint32_t rank : ranks) {
      const auto contribution = found->second.contributions.find(rank);
      if (contribution == found->second.contributions.end()) return std::nullopt;
      all.push_back(contribution->second);
    }
    result = pack(all);
    for (const std::uint32_t rank : ranks) {
      send(rank, {.kind = ControlMessage::Kind::contributions, .question = round, .body = *result},
           Delivery::connects);
    }
  }
  if (result) end_rounds_before(round + 1);
  return result;
}

void GroupState::end_rounds_before(std::uint32_t round) {
  first_round_ = std::max(first_round_, round);
  rounds_.erase(rounds_.begin(), rounds_.lower_bound(first_round_));
}

bool GroupState::lacks_any(std::span<const std::uint32_t> ranks) const {
  return std::any_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) {
    return gone_.contains(rank) || left_.contains(rank);
  });
}

}  // namespace tutti
