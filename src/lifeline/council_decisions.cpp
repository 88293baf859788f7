#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/json.hpp"
#include "core/quantity.hpp"
#include "lifeline/council.hpp"

/// How the ranks of a communicator decide, when this one presides. All with the lifeline's mutex
/// held.
namespace tutti {
namespace {

using namespace std::chrono_literals;

/// Who is alive answers at once, unless its machine is very busy.
constexpr auto answer_time = 2s;

std::string words_of_farewell(std::uint64_t calls) {
  return "it has left the communicator after " + in_plural(calls, "call");
}

}  // namespace

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
        Standing standing = participant_.standing(std::strtoull(subject.c_str(), nullptr, 10));
        standing.done = participant_.seal();
        return write(standing);
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

/// The calls with retry that all ranks have done which were heard, this one included.
std::uint64_t Council::done_by_all(const Agreement::Hearing& hearing) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Agreement::Voice& voice : hearing.voices) {
    if (!voice.standing.empty()) least = std::min(least, read_standing(voice.standing).done);
  }
  return least;
}

/// The ruling, once anybody has something to complain of.
std::optional<std::string> Council::judge(const Agreement::Hearing& hearing) const {
  Inquest inquest{.standings = seen_, .gone = gone_, .completed = done_by_all(hearing)};
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
  for (const auto& [rank, report] : inquest.reports) {
    if (report.code != ErrorCode::peer_lost) continue;
    // What one has noticed is true for all, unless the accused speaks for itself.
    for (const std::uint32_t accused : report.ranks) {
      if (!hearing.silent.contains(accused)) continue;
      const auto left = left_.find(accused);
      inquest.gone.emplace(accused,
                           left == left_.end() ? report.words : words_of_farewell(left->second));
    }
  }
  for (const std::uint32_t rank : hearing.silent) {
    if (!gone_.contains(rank) && !left_.contains(rank)) inquest.mute.push_back(rank);
  }
  if (inquest.reports.empty() && inquest.mute.empty()) return std::nullopt;
  return write(inquest.ruling());
}

/// What all who are there have said, once they have.
std::optional<std::string> Council::collect(const Agreement::Hearing& hearing) const {
  Json inputs = Json::object();
  for (std::uint32_t rank = 0; rank < hearing.voices.size(); ++rank) {
    if (hearing.silent.contains(rank)) continue;
    const std::optional<std::string>& input = hearing.voices[rank].input;
    if (input) {
      inputs.add(std::to_string(rank), *input);
    } else if (!hearing.late.contains(rank)) {
      return std::nullopt;
    }
  }
  return inputs.dump();
}

/// Who was too late once has had its time. It may well be alive, and hang for ever.
void Council::suspect_laggards(Agreement& agreement) const {
  if (!ruling_) return;
  for (const std::uint32_t rank : ruling_->mute) agreement.suspect(rank);
  if (ruling_->verdict.code != ErrorCode::timed_out) return;
  for (const std::uint32_t rank : ruling_->verdict.ranks) agreement.suspect(rank);
}

}  // namespace tutti
