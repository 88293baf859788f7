#include "lifeline/council.hpp"

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

#include "core/quantity.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr std::uint32_t verdict_question = 0;
/// Who is alive answers at once, unless its machine is very busy.
constexpr auto answer_time = 2s;
/// Who may take the chair before this rank may all be silent, one after the other; and then others.
std::chrono::seconds verdict_time(std::uint32_t self) { return (self + 3) * answer_time; }
/// How often a rank lets others see what it is doing, and how many of them: whoever presides over
/// an inquest should know.
constexpr auto show_every = 1s;
constexpr std::uint32_t shown_to = 2;

std::string farewell(std::uint64_t calls) {
  return "it has left the communicator after " + in_plural(calls, "call");
}

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

std::optional<Verdict> Council::verdict() const {
  const Lock lock(lifeline_->mutex_);
  return verdict_;
}

std::map<std::uint32_t, std::uint64_t> Council::left() const {
  const Lock lock(lifeline_->mutex_);
  return left_;
}

bool Council::is_gone(std::uint32_t rank) const {
  const Lock lock(lifeline_->mutex_);
  return gone_.contains(rank) || left_.contains(rank);
}

void Council::report(const Report& report) {
  const Lock lock(lifeline_->mutex_);
  put_report(report);
}

void Council::put_report(const Report& report) {
  if (verdict_ || own_report_) return;
  own_report_ = report;
  agreement(verdict_question).put(write(report), std::to_string(report.call), Clock::now());
  look_for_verdict();
  lifeline_->post_->hurry();
}

Verdict Council::await_verdict() {
  Lock lock(lifeline_->mutex_);
  lifeline_->changed_.wait_for(lock, verdict_time(seat_.self),
                               [&] { return verdict_.has_value(); });
  if (!verdict_) {
    const Report own = own_report_.value_or(Report{.words = "nobody says what went wrong"});
    verdict_ = Verdict{.code = own.code, .ranks = own.ranks, .words = own.words};
    alarm_.store(true);
    participant_.stop();
  }
  return *verdict_;
}

void Council::compare(std::uint64_t call) {
  const Lock lock(lifeline_->mutex_);
  if (verdict_) return;
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
  const bool decided =
      lifeline_->changed_.wait_for(lock, seat_.patience + verdict_time(seat_.self),
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
    Json all = Json::array();
    for (const std::uint32_t rank : ranks) all.push_back(cards.at(rank));
    handed_out_[round] = all.dump();
    for (const std::uint32_t rank : ranks) {
      if (rank != seat_.self) send(rank, Letter::Kind::cards, round, 0, handed_out_[round]);
    }
  } else {
    send(first, Letter::Kind::card, round, 0, card);
    wait_for([&] { return handed_out_.contains(round); });
  }
  return Json::parse(handed_out_.at(round)).get<std::vector<std::string>>();
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
    soon = soon || !agreement.decision();
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

Agreement& Council::agreement(std::uint32_t question) {
  const auto found = agreements_.find(question);
  if (found != agreements_.end()) return found->second;
  const bool is_verdict = question == verdict_question;
  Agreement::Desk desk{
      .send = [this, question](
                  std::uint32_t to, Letter::Kind kind, std::uint32_t ballot,
                  std::string body) { send(to, kind, question, ballot, std::move(body)); },
      .judge =
          [this, is_verdict](const Agreement::Hearing& hearing) {
            return is_verdict ? judge(hearing) : collect(hearing);
          },
      .stand = [this, is_verdict](const std::string& subject) -> std::string {
        if (!is_verdict) return "";
        return write(participant_.standing(std::strtoull(subject.c_str(), nullptr, 10)));
      }};
  Agreement& made =
      agreements_
          .try_emplace(question, seat_.self, static_cast<std::uint32_t>(seat_.members.size()),
                       std::move(desk),
                       Agreement::Patience{.for_answers = answer_time,
                                           .for_inputs = is_verdict ? 0s : seat_.patience})
          .first->second;
  if (const auto before = agreements_.find(question - 1); before != agreements_.end()) {
    for (const std::uint32_t rank : before->second.silent()) made.suspect(rank);
  }
  if (!is_verdict) suspect_laggards(made);
  for (const std::uint32_t rank : absent()) made.lose(rank, Clock::now());
  return made;
}

std::set<std::uint32_t> Council::absent() const {
  std::set<std::uint32_t> ranks;
  for (const auto& [rank, why] : gone_) ranks.insert(rank);
  for (const auto& [rank, calls] : left_) ranks.insert(rank);
  return ranks;
}

/// The verdict, once anybody has something to complain of.
std::optional<std::string> Council::judge(const Agreement::Hearing& hearing) const {
  Inquest inquest{.standings = seen_, .gone = gone_};
  for (const std::uint32_t member : seat_.members) {
    inquest.whereabouts.push_back(lifeline_->whereabouts()[member]);
  }
  for (std::uint32_t rank = 0; rank < hearing.voices.size(); ++rank) {
    const Agreement::Voice& voice = hearing.voices[rank];
    if (voice.input) {
      if (auto report = read_report(*voice.input)) inquest.reports.emplace(rank, *report);
    }
    if (!voice.standing.empty()) inquest.standings[rank] = read_standing(voice.standing);
  }
  if (inquest.reports.empty()) return std::nullopt;
  for (const auto& [rank, report] : inquest.reports) {
    if (report.code != ErrorCode::peer_lost) continue;
    // What one has noticed is true for all, unless the accused speaks for itself.
    for (const std::uint32_t accused : report.ranks) {
      if (!hearing.silent.contains(accused)) continue;
      const auto left = left_.find(accused);
      inquest.gone.emplace(accused, left == left_.end() ? report.words : farewell(left->second));
    }
  }
  for (const std::uint32_t rank : hearing.silent) {
    if (!gone_.contains(rank) && !left_.contains(rank)) inquest.mute.push_back(rank);
  }
  return write(inquest.verdict());
}

/// What all who are there have said, once they have.
std::optional<std::string> Council::collect(const Agreement::Hearing& hearing) const {
  Json inputs = Json::object();
  for (std::uint32_t rank = 0; rank < hearing.voices.size(); ++rank) {
    if (hearing.silent.contains(rank)) continue;
    const std::optional<std::string>& input = hearing.voices[rank].input;
    if (input) {
      inputs[std::to_string(rank)] = *input;
    } else if (!hearing.late.contains(rank)) {
      return std::nullopt;
    }
  }
  return inputs.dump();
}

void Council::look_for_verdict() {
  if (verdict_) return;
  const auto found = agreements_.find(verdict_question);
  if (found == agreements_.end() || !found->second.decision()) return;
  verdict_ = read_verdict(*found->second.decision());
  if (!verdict_) verdict_ = Verdict{.words = "a verdict that cannot be read"};
  for (auto& [question, agreement] : agreements_) {
    if (question != verdict_question) suspect_laggards(agreement);
  }
  alarm_.store(true);
  participant_.stop();
}

/// Who was too late once has had its time. It may well be alive, and hang for ever.
void Council::suspect_laggards(Agreement& agreement) const {
  if (!verdict_ || verdict_->code != ErrorCode::timed_out) return;
  for (const std::uint32_t rank : verdict_->ranks) agreement.suspect(rank);
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
  if (verdict_ || other.asked.empty()) return;
  const Standing own = participant_.standing(other.about);
  if (own.asked.empty() || own.signature == other.signature) return;
  put_report({.code = ErrorCode::mismatch,
              .ranks = {rank},
              .call = other.about,
              .words = "this rank makes " + own.asked});
}

void Council::show_standing(Clock::time_point now) {
  if (verdict_ || has_left_ || now - shown_at_ < show_every) return;
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
