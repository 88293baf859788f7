#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "lifeline/group_state.hpp"

/// How this rank decides when it is the proposer.
namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A rank that runs replies at once, unless its machine is very busy.
constexpr auto answer_time = 2s;

std::string reason_of_leaver(std::uint64_t calls) {
  return "it has left the communicator after " + in_plural(calls, "call");
}

}  // namespace

Agreement& GroupState::agreement(std::uint32_t question, Clock::time_point now) {
  const auto found = agreements_.find(question);
  if (found != agreements_.end()) return found->second;
  const bool is_verdict = question == verdict_question;
  Agreement::Environment environment{
      .send =
          [this, question](std::uint32_t to, ControlMessage::Kind kind, std::uint32_t ballot,
                           std::string body, Delivery delivery) {
            send(to,
                 {.kind = kind, .question = question, .ballot = ballot, .body = std::move(body)},
                 delivery);
          },
      .decide =
          [this, is_verdict](const Agreement::Evidence& evidence) {
            return is_verdict ? decide_verdict(evidence) : collect_inputs(evidence);
          },
      .describe =
          [this, is_verdict](const std::string& subject) {
            return is_verdict ? describe_for_verdict(subject) : "";
          }};
  Agreement& made =
      agreements_
          .try_emplace(question, config_.self, size(), std::move(environment),
                       Agreement::Patience{.for_answers = answer_time,
                                           .for_inputs = is_verdict ? 0s : config_.patience})
          .first->second;
  if (const auto before = agreements_.find(question - 1); before != agreements_.end()) {
    for (const std::uint32_t rank : before->second.silent()) made.suspect(rank);
  }
  if (!is_verdict) suspect_late_ranks(made);
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (gone_.contains(rank) || left_.contains(rank)) made.lose(rank, now);
  }
  return made;
}

/// The subject is the call that a rank has reported. This rank's count of calls with retry is
/// sealed: it must not change after others have been told (ADR 6).
std::string GroupState::describe_for_verdict(const std::string& subject) {
  RankStatus status = participant_.status(std::strtoull(subject.c_str(), nullptr, 10));
  status.done = participant_.seal();
  status.left = left_;
  for (const auto& [rank, why] : gone_) {
    if (const auto seen = seen_.find(rank); seen != seen_.end()) {
      status.seen.emplace(rank, write(seen->second));
    }
  }
  return write(status);
}

/// The calls with retry that all answering ranks have done, this rank included.
std::uint64_t GroupState::done_by_all(const Agreement::Evidence& evidence) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Agreement::Answer& answer : evidence.answers) {
    if (!answer.status.empty()) least = std::min(least, read_rank_status(answer.status).done);
  }
  return least;
}

/// The ranks that have left, as far as this rank or one that answers has heard of it.
std::map<std::uint32_t, std::uint64_t> GroupState::left_by_all(
    const Agreement::Evidence& evidence) const {
  std::map<std::uint32_t, std::uint64_t> left = left_;
  for (const Agreement::Answer& answer : evidence.answers) {
    if (!answer.status.empty()) left.merge(read_rank_status(answer.status).left);
  }
  return left;
}

/// The verdict, once a rank has reported something or does not reply.
std::optional<std::string> GroupState::decide_verdict(const Agreement::Evidence& evidence) const {
  FailureInquiry inquiry{.statuses = seen_, .gone = gone_, .completed = done_by_all(evidence)};
  const std::map<std::uint32_t, std::uint64_t> left = left_by_all(evidence);
  // A rank that has left in order also looks lost to ranks that have not heard of it.
  std::erase_if(inquiry.gone, [&](const auto& each) { return left.contains(each.first); });
  const auto is_of_leavers = [&](const Report& report) {
    return report.code == ErrorCode::peer_lost && report.call == 0 &&
           std::all_of(report.ranks.begin(), report.ranks.end(),
                       [&](std::uint32_t rank) { return left.contains(rank); });
  };
  std::map<std::uint32_t, Report> of_leavers;
  for (const std::uint32_t member : config_.members) {
    inquiry.whereabouts.push_back(environment_.whereabouts[member]);
  }
  for (std::uint32_t rank = 0; rank < evidence.answers.size(); ++rank) {
    const Agreement::Answer& answer = evidence.answers[rank];
    if (answer.input) {
      if (auto report = read_report(*answer.input)) {
        (is_of_leavers(*report) ? of_leavers : inquiry.reports).emplace(rank, *report);
      }
    }
    if (answer.status.empty()) continue;
    RankStatus status = read_rank_status(answer.status);
    for (const auto& [other, seen] : status.seen) {
      inquiry.statuses.emplace(other, read_rank_status(seen));
    }
    inquiry.statuses[rank] = std::move(status);
  }
  if (inquiry.reports.empty() && inquiry.gone.empty()) inquiry.reports = std::move(of_leavers);
  for (const auto& [rank, report] : inquiry.reports) {
    if (report.code != ErrorCode::peer_lost) continue;
    // One rank's report of a loss is believed, unless the reported rank has replied itself.
    for (const std::uint32_t reported : report.ranks) {
      if (!evidence.silent.contains(reported)) continue;
      const auto leaver = left.find(reported);
      inquiry.gone.emplace(reported,
                           leaver == left.end() ? report.words : reason_of_leaver(leaver->second));
    }
  }
  for (const std::uint32_t rank : evidence.silent) {
    if (!gone_.contains(rank) && !left.contains(rank)) inquiry.unresponsive.push_back(rank);
  }
  if (inquiry.reports.empty() && inquiry.gone.empty() && inquiry.unresponsive.empty()) {
    return std::nullopt;
  }
  return write(inquiry.agreed_verdict());
}

/// The inputs of all ranks that reply, once they are here or late.
std::optional<std::string> GroupState::collect_inputs(const Agreement::Evidence& evidence) {
  Json::object_t inputs;  // A Json would search each key: quadratic in the number of ranks.
  for (std::uint32_t rank = 0; rank < evidence.answers.size(); ++rank) {
    if (evidence.silent.contains(rank)) continue;
    const std::optional<std::string>& input = evidence.answers[rank].input;
    if (input) {
      inputs.emplace_back(std::to_string(rank), *input);
    } else if (!evidence.late.contains(rank)) {
      return std::nullopt;
    }
  }
  return json_text(std::move(inputs));
}

/// A rank that was late for the verdict has had its time. It may be alive and hang for ever (ADR
/// 4).
void GroupState::suspect_late_ranks(Agreement& agreement) const {
  if (!verdict_) return;
  for (const std::uint32_t rank : verdict_->unresponsive) agreement.suspect(rank);
  if (verdict_->verdict.code != ErrorCode::timed_out) return;
  for (const std::uint32_t rank : verdict_->verdict.ranks) agreement.suspect(rank);
}

}  // namespace tutti
