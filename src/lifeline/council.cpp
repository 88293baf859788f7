#include "lifeline/council.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/json.hpp"
#include "core/packed_texts.hpp"
#include "core/quantity.hpp"
#include "core/shortened.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// By far longer than ranks take for a verdict, even if several are silent one after the other.
constexpr auto verdict_time = 30s;
constexpr auto between_looks = 100ms;
/// How often a rank lets others see what it is doing, and how many of them: whoever presides over
/// an inquest should know.
constexpr auto show_every = 1s;
constexpr std::uint32_t shown_to = 2;

}  // namespace

Council::Council(std::shared_ptr<Lifeline> lifeline, Seat seat, std::atomic<bool>& alarm,
                 Participant& participant)
    : lifeline_(std::move(lifeline)),
      seat_(std::move(seat)),
      alarm_(alarm),
      participant_(participant) {
  const Lock lock(lifeline_->mutex_);
  lifeline_->enter(*this);
}

Council::~Council() {
  const Lock lock(lifeline_->mutex_);
  say_farewell(0);
  lifeline_->leave(*this);
}

std::optional<Ruling> Council::ruling() const {
  const Lock lock(lifeline_->mutex_);
  return ruling_;
}

std::map<std::uint32_t, std::uint64_t> Council::left() const {
  const Lock lock(lifeline_->mutex_);
  return left_;
}

bool Council::is_gone(std::uint32_t rank) const {
  const Lock lock(lifeline_->mutex_);
  if (gone_.contains(rank) || left_.contains(rank)) return true;
  return ruling_ &&
         std::find(ruling_->mute.begin(), ruling_->mute.end(), rank) != ruling_->mute.end();
}

void Council::report(const Report& report) {
  const Lock lock(lifeline_->mutex_);
  put_report(report);
}

void Council::put_report(Report report) {
  if (ruling_ || own_report_) return;
  report.words = shortened(report.words);
  own_report_ = report;
  agreement(verdict_question)
      .put(write(report), std::to_string(report.call), Clock::now(),
           report.code == ErrorCode::timed_out ? Agreement::Urgency::urgent
                                               : Agreement::Urgency::usual);
  look_for_verdict();
  lifeline_->post_->hurry();
}

Ruling Council::await_ruling() {
  Lock lock(lifeline_->mutex_);
  wait_awake(lock, verdict_time, [&] { return is_ruling_confirmed(); });
  if (!ruling_) {
    const Report own = own_report_.value_or(Report{.words = "nobody says what went wrong"});
    rule({.verdict = {.code = own.code, .ranks = own.ranks, .words = own.words},
          .completed = participant_.seal()});
  }
  return *ruling_;
}

/// Waits until that is so, or has not been for so long. Time in which this process does not run
/// counts little: when it goes on, the answer may be there already.
template <class Predicate>
bool Council::wait_awake(Lock& lock, Clock::duration time, Predicate&& is_so) {
  for (Clock::duration waited{}; waited < time; waited += between_looks) {
    if (lifeline_->changed_.wait_for(lock, between_looks, is_so)) return true;
  }
  return is_so();
}

bool Council::is_ruling_confirmed() const {
  if (!ruling_) return false;
  const auto found = agreements_.find(verdict_question);
  const bool is_own = found == agreements_.end() || !found->second.decision();
  return is_own || found->second.is_confirmed(Clock::now());
}

void Council::compare(std::uint64_t call) {
  const Lock lock(lifeline_->mutex_);
  if (ruling_) return;
  const std::string own = write(participant_.standing(call));
  for (std::uint32_t rank = 0; rank < seat_.members.size(); ++rank) {
    send(rank, Letter::Kind::seen, 0, 0, own);
  }
}

std::uint32_t Council::questions() const {
  const Lock lock(lifeline_->mutex_);
  return questions_;
}

void Council::leave(std::uint64_t calls) {
  const Lock lock(lifeline_->mutex_);
  say_farewell(calls);
}

void Council::decline(std::uint64_t id, std::span<const std::uint32_t> members) {
  const Lock lock(lifeline_->mutex_);
  for (const std::uint32_t member : members) {
    if (member == seat_.members[seat_.self]) continue;
    lifeline_->send(member, {.kind = Letter::Kind::leave, .council = id, .body = "0"});
  }
}

std::map<std::uint32_t, std::string> Council::agree(const std::string& input) {
  std::vector<std::uint32_t> all(seat_.members.size());
  std::iota(all.begin(), all.end(), 0);
  return agree(input, all);
}

std::map<std::uint32_t, std::string> Council::agree(const std::string& input,
                                                    std::span<const std::uint32_t> among) {
  Lock lock(lifeline_->mutex_);
  const std::uint32_t question = ++questions_;
  Agreement& agreement = this->agreement(question);
  for (std::uint32_t rank = 0; rank < seat_.members.size(); ++rank) {
    const bool is_asked = std::find(among.begin(), among.end(), rank) != among.end();
    if (!is_asked) agreement.lose(rank, Clock::now());
  }
  agreement.put(input, "", Clock::now());
  lifeline_->post_->hurry();
  const bool decided = wait_awake(lock, seat_.patience + verdict_time,
                                  [&] { return agreement.decision().has_value(); });
  if (!decided) throw Error(ErrorCode::timed_out, "the ranks that are left come to no agreement");
  const Json decision = Json::parse(*agreement.decision());
  std::map<std::uint32_t, std::string> inputs;
  for (const auto& [rank, text] : decision.items()) {
    inputs.emplace(std::stoul(rank), text.get<std::string>());
  }
  return inputs;
}

std::vector<std::string> Council::exchange(std::span<const std::uint32_t> ranks,
                                           std::uint32_t round, const std::string& card) {
  Lock lock(lifeline_->mutex_);
  const std::uint32_t first = ranks.front();
  const auto is_anybody_gone = [&] {
    return std::any_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) {
      return gone_.contains(rank) || left_.contains(rank);
    });
  };
  const auto wait_for = [&](auto&& is_there) {
    const bool over = lifeline_->changed_.wait_for(lock, seat_.patience,
                                                   [&] { return is_there() || is_anybody_gone(); });
    if (is_there()) return;
    if (over) throw Error(ErrorCode::peer_lost, "another rank was lost while starting anew");
    throw Error(ErrorCode::timed_out, "the ranks that are left did not all start anew");
  };
  if (seat_.self == first) {
    std::map<std::uint32_t, std::string>& cards = cards_[round];
    cards[seat_.self] = card;
    wait_for([&] { return cards.size() == ranks.size(); });
    std::vector<std::string> all;
    for (const std::uint32_t rank : ranks) all.push_back(cards.at(rank));
    handed_out_[round] = pack(all);
    for (const std::uint32_t rank : ranks) {
      if (rank != seat_.self) send(rank, Letter::Kind::cards, round, 0, handed_out_[round]);
    }
  } else {
    send(first, Letter::Kind::card, round, 0, card);
    wait_for([&] { return handed_out_.contains(round); });
  }
  auto all = unpack(handed_out_.at(round));
  if (!all) throw Error(ErrorCode::mismatch, "ranks do not understand each other");
  return *std::move(all);
}

// With the mutex held ---------------------------------------------------------------------------

void Council::say_farewell(std::uint64_t calls) {
  if (std::exchange(has_left_, true)) return;
  for (const auto& [question, agreement] : agreements_) agreement.hand_on();
  for (std::uint32_t rank = 0; rank < seat_.members.size(); ++rank) {
    send(rank, Letter::Kind::leave, 0, 0, std::to_string(calls));
  }
}

void Council::hear(std::uint32_t member, const Letter& letter) {
  const auto rank = rank_of(member);
  if (!rank) return;
  switch (letter.kind) {
    case Letter::Kind::leave:
      left_.emplace(*rank, std::strtoull(letter.body.c_str(), nullptr, 10));
      alarm_.store(true);
      note_absence(*rank);
      return;
    case Letter::Kind::card:
      cards_[letter.question][*rank] = letter.body;
      return;
    case Letter::Kind::cards:
      handed_out_[letter.question] = letter.body;
      return;
    case Letter::Kind::seen:
      seen_[*rank] = read_standing(letter.body);
      compare_with(*rank, seen_[*rank]);
      return;
    default:
      agreement(letter.question).hear(*rank, letter.kind, letter.ballot, letter.body, Clock::now());
      look_for_verdict();
      lifeline_->post_->hurry();
  }
}

void Council::lose(std::uint32_t member, const std::string& why) {
  const auto rank = rank_of(member);
  if (!rank || left_.contains(*rank)) return;
  gone_.emplace(*rank, why);
  note_absence(*rank);
  // Those who wait for it would wait for ever.
  put_report({.code = ErrorCode::peer_lost, .ranks = {*rank}, .words = why});
}

void Council::note_absence(std::uint32_t rank) {
  for (auto& [question, agreement] : agreements_) agreement.lose(rank, Clock::now());
  look_for_verdict();
}

bool Council::tick() {
  const Clock::time_point now = Clock::now();
  bool soon = false;
  for (auto& [question, agreement] : agreements_) {
    agreement.tick(now);
    soon = soon || !agreement.is_confirmed(now);
  }
  look_for_verdict();
  show_standing(now);
  return soon;
}

std::optional<std::uint32_t> Council::rank_of(std::uint32_t member) const {
  const auto found = std::find(seat_.members.begin(), seat_.members.end(), member);
  if (found == seat_.members.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - seat_.members.begin());
}

std::set<std::uint32_t> Council::absent() const {
  std::set<std::uint32_t> ranks;
  for (const auto& [rank, why] : gone_) ranks.insert(rank);
  for (const auto& [rank, calls] : left_) ranks.insert(rank);
  return ranks;
}

void Council::look_for_verdict() {
  if (ruling_) return;
  const auto found = agreements_.find(verdict_question);
  if (found == agreements_.end() || !found->second.decision()) return;
  const std::optional<Ruling> read = read_ruling(*found->second.decision());
  rule(read.value_or(Ruling{.verdict = {.words = "a verdict that cannot be read"}}));
}

void Council::rule(const Ruling& ruling) {
  ruling_ = ruling;
  for (auto& [question, agreement] : agreements_) {
    if (question != verdict_question) suspect_laggards(agreement);
  }
  (void)participant_.seal();
  alarm_.store(true);
  participant_.stop();
}

void Council::send(std::uint32_t rank, Letter::Kind kind, std::uint32_t question,
                   std::uint32_t ballot, std::string body) {
  if (rank == seat_.self) return;
  lifeline_->send(seat_.members[rank], {.kind = kind,
                                        .council = seat_.id,
                                        .question = question,
                                        .ballot = ballot,
                                        .body = std::move(body)});
}

/// Whether this rank made another call under the number of the one that `rank` is in.
void Council::compare_with(std::uint32_t rank, const Standing& other) {
  if (ruling_ || other.asked.empty()) return;
  const Standing own = participant_.standing(other.about);
  if (own.asked.empty() || own.signature == other.signature) return;
  put_report({.code = ErrorCode::mismatch,
              .ranks = {rank},
              .call = other.about,
              .words = "this rank makes " + own.asked});
}

void Council::show_standing(Clock::time_point now) {
  if (ruling_ || has_left_ || now - shown_at_ < show_every) return;
  shown_at_ = now;
  const Standing standing = participant_.standing(0);
  if (standing.call == shown_call_) return;
  shown_call_ = standing.call;
  for (std::uint32_t rank = 0; rank < std::min<std::size_t>(shown_to, seat_.members.size());
       ++rank) {
    send(rank, Letter::Kind::seen, 0, 0, write(standing));
  }
}

}  // namespace tutti
