#include "lifeline/failure_inquiry.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include <tutti/message.hpp>

#include "core/json_value.hpp"

namespace tutti {
namespace {

std::string dumped(const Json& json) { return json_text(json, -1, NotUtf8::replace); }

std::string in_seconds(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return text.data();
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

std::optional<ErrorCode> code_of(const JsonReader& json) {
  const int code = json.at("code").get<int>();
  if (code < 0 || code > static_cast<int>(ErrorCode::internal)) return std::nullopt;
  return static_cast<ErrorCode>(code);
}

Json calls_of(const Verdict& verdict) {
  std::vector<std::uint32_t> ranks;
  std::vector<std::string> words;
  for (const RankCall& call : verdict.calls) {
    ranks.push_back(call.rank);
    words.push_back(call.words);
  }
  return {{"ranks", ranks}, {"words", words}};
}

std::vector<RankCall> read_calls(const JsonReader& json) {
  const auto ranks = json.at("ranks").get<std::vector<std::uint32_t>>();
  const auto words = json.at("words").get<std::vector<std::string>>();
  std::vector<RankCall> calls;
  for (std::size_t i = 0; i < std::min(ranks.size(), words.size()); ++i) {
    calls.push_back({.rank = ranks[i], .words = words[i]});
  }
  return calls;
}

}  // namespace

std::string write(const Report& report) {
  return dumped({{"code", static_cast<int>(report.code)},
                 {"ranks", report.ranks},
                 {"call", report.call},
                 {"words", report.words}});
}

std::optional<Report> read_report(const std::string& text) {
  try {
    const JsonReader json = JsonReader::parse(text);
    const auto code = code_of(json);
    if (!code) return std::nullopt;
    return Report{.code = *code,
                  .ranks = json.at("ranks").get<std::vector<std::uint32_t>>(),
                  .call = json.at("call").get<std::uint64_t>(),
                  .words = json.at("words").get<std::string>()};
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

std::string write(const AgreedVerdict& agreed) {
  return dumped({{"code", static_cast<int>(agreed.verdict.code)},
                 {"ranks", agreed.verdict.ranks},
                 {"words", agreed.verdict.words},
                 {"calls", calls_of(agreed.verdict)},
                 {"mute", agreed.unresponsive},
                 {"completed", agreed.completed}});
}

std::optional<AgreedVerdict> read_agreed_verdict(const std::string& text) {
  try {
    const JsonReader json = JsonReader::parse(text);
    const auto code = code_of(json);
    if (!code) return std::nullopt;
    return AgreedVerdict{.verdict = {.code = *code,
                                     .ranks = json.at("ranks").get<std::vector<std::uint32_t>>(),
                                     .words = json.at("words").get<std::string>(),
                                     .calls = read_calls(json.at("calls"))},
                         .unresponsive = json.at("mute").get<std::vector<std::uint32_t>>(),
                         .completed = json.at("completed").get<std::uint64_t>()};
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

Verdict FailureInquiry::verdict() const {
  if (const Report* const report = first(ErrorCode::aborted)) {
    return {.code = report->code, .ranks = report->ranks, .words = report->words};
  }
  if (!gone.empty()) return of_gone();
  if (auto different = of_different_calls()) return *different;
  for (const auto& [rank, report] : reports) {
    if (report.code != ErrorCode::timed_out) continue;
    if (auto cycle = of_cycle(rank, report)) return *cycle;
    return of_late(rank, report);
  }
  if (!reports.empty()) {
    const auto& [rank, report] = *reports.begin();
    return {.code = report.code, .ranks = report.ranks, .words = name(rank) + ": " + report.words};
  }
  if (!unresponsive.empty()) return of_unresponsive();
  return {.code = ErrorCode::internal, .words = "no rank reported what went wrong"};
}

std::string FailureInquiry::name(std::uint32_t rank) const {
  const std::string number = "rank " + std::to_string(rank);
  return rank < whereabouts.size() ? number + " (" + whereabouts[rank] + ")" : number;
}

std::string FailureInquiry::last_seen(std::uint32_t rank) const {
  const auto found = statuses.find(rank);
  if (found == statuses.end() || found->second.call == 0) return "was not yet seen in any call";
  const RankStatus& status = found->second;
  return "was last seen " + (status.runs
                                 ? "in " + status.words + ", for " + in_seconds(status.seconds)
                                 : in_seconds(status.seconds) + " after " + status.words);
}

const Report* FailureInquiry::first(ErrorCode code) const {
  const auto found = std::find_if(reports.begin(), reports.end(),
                                  [&](const auto& each) { return each.second.code == code; });
  return found == reports.end() ? nullptr : &found->second;
}

Verdict FailureInquiry::of_gone() const {
  Verdict verdict{.code = ErrorCode::peer_lost};
  std::vector<std::string> parts;
  for (const auto& [rank, why] : gone) {
    verdict.ranks.push_back(rank);
    const bool was_seen = statuses.contains(rank) && statuses.at(rank).call > 0;
    parts.push_back(name(rank) + " is gone: " + why + (was_seen ? "; it " + last_seen(rank) : ""));
  }
  verdict.words = joined(parts, "; ");
  return verdict;
}

/// Groups the ranks by their call at the first call number at which known calls differ.
FailureInquiry::Difference FailureInquiry::first_difference() const {
  std::map<std::uint64_t, Difference> by_call;
  const auto add = [&](std::uint64_t call, std::uint32_t rank, const RankStatus::Made& made) {
    by_call[call].by_signature[made.signature].push_back(rank);
    by_call[call].quotes[rank] = made.words;
  };
  for (const auto& [rank, status] : statuses) {
    for (const RankStatus::Made& each : status.earlier) add(each.call, rank, each);
    // The last status of a rank that does not reply may be about another call.
    if (status.asked.empty()) continue;
    add(status.about, rank, {.signature = status.signature, .words = status.asked});
  }
  for (const auto& [call, calls] : by_call) {
    if (calls.by_signature.size() > 1) return calls;
  }
  return {};
}

/// The verdict if ranks made different calls under the reported number, or before it.
std::optional<Verdict> FailureInquiry::of_different_calls() const {
  const bool asked = std::any_of(reports.begin(), reports.end(), [](const auto& each) {
    return each.second.code == ErrorCode::mismatch || each.second.code == ErrorCode::timed_out;
  });
  if (!asked) return std::nullopt;
  const Difference difference = first_difference();
  const auto& by_signature = difference.by_signature;
  if (by_signature.size() < 2) {
    // The recorders no longer hold the calls: believe the rank that reported.
    const Report* const report = first(ErrorCode::mismatch);
    if (report == nullptr) return std::nullopt;
    std::string words = report->words;
    for (const std::uint32_t rank : report->ranks)
      words += "; " + name(rank) + " " + last_seen(rank);
    return Verdict{.code = ErrorCode::mismatch, .ranks = report->ranks, .words = words};
  }
  // The majority is taken to be right. In a tie all are named.
  const auto most =
      std::max_element(by_signature.begin(), by_signature.end(), [](const auto& a, const auto& b) {
        if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
        return a.second.front() > b.second.front();
      });
  Verdict verdict{.code = ErrorCode::mismatch};
  std::vector<std::string> parts;
  const auto quote = [&](const std::vector<std::uint32_t>& ranks) {
    const std::uint32_t one = ranks.front();
    const std::string others =
        ranks.size() == 1 ? "" : " and " + std::to_string(ranks.size() - 1) + " more";
    parts.push_back(name(one) + others + " makes " + difference.quotes.at(one));
    verdict.calls.push_back({.rank = one, .words = difference.quotes.at(one)});
  };
  const auto as_many =
      std::count_if(by_signature.begin(), by_signature.end(),
                    [&](const auto& each) { return each.second.size() == most->second.size(); });
  quote(most->second);
  if (as_many > 1) verdict.ranks = most->second;
  for (auto each = by_signature.begin(); each != by_signature.end(); ++each) {
    if (each == most) continue;
    quote(each->second);
    verdict.ranks.insert(verdict.ranks.end(), each->second.begin(), each->second.end());
  }
  std::sort(verdict.ranks.begin(), verdict.ranks.end());
  std::sort(verdict.calls.begin(), verdict.calls.end(),
            [](const RankCall& a, const RankCall& b) { return a.rank < b.rank; });
  verdict.words = "ranks make different calls: " + joined(parts, ", but ") +
                  "; make the same calls in the same order on all ranks";
  return verdict;
}

Verdict FailureInquiry::of_late(std::uint32_t reporter, const Report& report) const {
  std::set<std::uint32_t> late(unresponsive.begin(), unresponsive.end());
  // A rank that is ahead of the last one, or that replies while another does not, may itself wait
  // for that one: in a point-to-point message before its first call, say.
  if (unresponsive.empty()) {
    std::uint64_t least = report.call;
    for (const auto& [rank, status] : statuses) least = std::min(least, status.call);
    for (const auto& [rank, status] : statuses) {
      if (status.call == least && least < report.call) late.insert(rank);
    }
  }
  if (late.empty()) late.insert(report.ranks.begin(), report.ranks.end());
  Verdict verdict{.code = ErrorCode::timed_out, .ranks = {late.begin(), late.end()}};
  std::vector<std::string> parts{name(reporter) + " waited until its deadline: " + report.words};
  for (const std::uint32_t rank : late) parts.push_back(lateness(rank));
  verdict.words = joined(parts, "; ");
  return verdict;
}

/// Whether the other end of this message is running, too: then it waits for time, not for a call.
bool FailureInquiry::is_matched(std::uint32_t waiter, const RankStatus::Wait& wait) const {
  const auto peer = statuses.find(wait.rank);
  if (peer == statuses.end()) return false;
  const auto& others = peer->second.waits;
  return std::any_of(others.begin(), others.end(), [&](const RankStatus::Wait& other) {
    const std::uint32_t wanted = wait.receives ? wait.tag : other.tag;
    const std::uint32_t sent = wait.receives ? other.tag : wait.tag;
    return other.receives != wait.receives && (other.rank == waiter || other.rank == any_rank) &&
           (wanted == sent || wanted == any_tag);
  });
}

/// The waits that keep a rank from its next call, and that only a further call of the peer can end;
/// none if that is not known.
std::vector<RankStatus::Wait> FailureInquiry::unmatched_waits(std::uint32_t rank) const {
  std::vector<RankStatus::Wait> unmatched;
  const auto status = statuses.find(rank);
  if (status == statuses.end()) return unmatched;
  for (const RankStatus::Wait& wait : status->second.waits) {
    const auto peer = statuses.find(wait.rank);
    const bool is_known = peer != statuses.end() && !peer->second.has_more_waits;
    if (wait.blocks && is_known && !is_matched(rank, wait)) unmatched.push_back(wait);
  }
  return unmatched;
}

/// The shortest path from one rank to another on which each rank waits for the next to send or
/// receive a message; empty if there is none.
std::vector<std::uint32_t> FailureInquiry::waiting_path(std::uint32_t from,
                                                        std::uint32_t to) const {
  std::map<std::uint32_t, std::uint32_t> before{{from, from}};
  std::vector<std::uint32_t> reached{from};
  for (std::size_t i = 0; i < reached.size() && !before.contains(to); ++i) {
    for (const RankStatus::Wait& wait : unmatched_waits(reached[i])) {
      if (before.emplace(wait.rank, reached[i]).second) reached.push_back(wait.rank);
    }
  }
  if (!before.contains(to)) return {};
  std::vector<std::uint32_t> path{to};
  while (path.back() != from) path.push_back(before.at(path.back()));
  std::reverse(path.begin(), path.end());
  return path;
}

/// The verdict if the message that timed out was waited for in a cycle: more time would not have
/// helped.
std::optional<Verdict> FailureInquiry::of_cycle(std::uint32_t reporter,
                                                const Report& report) const {
  for (const RankStatus::Wait& wait : unmatched_waits(reporter)) {
    if (std::find(report.ranks.begin(), report.ranks.end(), wait.rank) == report.ranks.end()) {
      continue;
    }
    std::vector<std::uint32_t> cycle = waiting_path(wait.rank, reporter);
    if (cycle.empty()) continue;
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const std::uint32_t next = cycle[(i + 1) % cycle.size()];
      const std::vector<RankStatus::Wait> waits = unmatched_waits(cycle[i]);
      const bool receives = std::any_of(
          waits.begin(), waits.end(),
          [&](const RankStatus::Wait& each) { return each.rank == next && each.receives; });
      const std::string peer = next == cycle[i] ? "itself" : "rank " + std::to_string(next);
      parts.push_back(
          name(cycle[i]) + " waits " +
          (receives ? "for a message from " + peer : "for " + peer + " to receive one"));
    }
    Verdict verdict{.code = ErrorCode::timed_out, .ranks = cycle};
    verdict.words = "ranks wait for each other in a cycle: " + joined(parts, ", ") +
                    "; let one rank send first, or let all send and receive at once";
    std::sort(verdict.ranks.begin(), verdict.ranks.end());
    return verdict;
  }
  return std::nullopt;
}

/// For a rank that started the agreement and fell silent before it could send its report.
Verdict FailureInquiry::of_unresponsive() const {
  std::vector<std::string> parts;
  for (const std::uint32_t rank : unresponsive) parts.push_back(lateness(rank));
  return {.code = ErrorCode::timed_out, .ranks = unresponsive, .words = joined(parts, "; ")};
}

std::string FailureInquiry::lateness(std::uint32_t rank) const {
  const bool is_unresponsive =
      std::find(unresponsive.begin(), unresponsive.end(), rank) != unresponsive.end();
  return name(rank) + " " + (is_unresponsive ? "does not reply, and " : "") + last_seen(rank);
}

}  // namespace tutti
