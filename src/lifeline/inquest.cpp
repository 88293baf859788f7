#include "lifeline/inquest.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "core/json.hpp"

namespace tutti {
namespace {

std::string dumped(const Json& json) { return json.dump(-1, Json::NotUtf8::replace); }

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

std::optional<ErrorCode> code_of(const Json& json) {
  const int code = json.at("code").get<int>();
  if (code < 0 || code > static_cast<int>(ErrorCode::internal)) return std::nullopt;
  return static_cast<ErrorCode>(code);
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
    const Json json = Json::parse(text);
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

std::string write(const Ruling& ruling) {
  return dumped({{"code", static_cast<int>(ruling.verdict.code)},
                 {"ranks", ruling.verdict.ranks},
                 {"words", ruling.verdict.words},
                 {"mute", ruling.mute},
                 {"completed", ruling.completed}});
}

std::optional<Ruling> read_ruling(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    const auto code = code_of(json);
    if (!code) return std::nullopt;
    return Ruling{.verdict = {.code = *code,
                              .ranks = json.at("ranks").get<std::vector<std::uint32_t>>(),
                              .words = json.at("words").get<std::string>()},
                  .mute = json.at("mute").get<std::vector<std::uint32_t>>(),
                  .completed = json.at("completed").get<std::uint64_t>()};
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

Verdict Inquest::verdict() const {
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
  if (!mute.empty()) return of_mute();
  return {.code = ErrorCode::internal, .words = "nobody says what went wrong"};
}

std::string Inquest::name(std::uint32_t rank) const {
  const std::string number = "rank " + std::to_string(rank);
  return rank < whereabouts.size() ? number + " (" + whereabouts[rank] + ")" : number;
}

std::string Inquest::last_seen(std::uint32_t rank) const {
  const auto found = standings.find(rank);
  if (found == standings.end() || found->second.call == 0) return "was not yet seen in any call";
  const Standing& standing = found->second;
  return "was last seen " + (standing.runs
                                 ? "in " + standing.words + ", for " + in_seconds(standing.seconds)
                                 : in_seconds(standing.seconds) + " after " + standing.words);
}

const Report* Inquest::first(ErrorCode code) const {
  const auto found = std::find_if(reports.begin(), reports.end(),
                                  [&](const auto& each) { return each.second.code == code; });
  return found == reports.end() ? nullptr : &found->second;
}

Verdict Inquest::of_gone() const {
  Verdict verdict{.code = ErrorCode::peer_lost};
  std::vector<std::string> parts;
  for (const auto& [rank, why] : gone) {
    verdict.ranks.push_back(rank);
    const bool was_seen = standings.contains(rank) && standings.at(rank).call > 0;
    parts.push_back(name(rank) + " is gone: " + why + (was_seen ? "; it " + last_seen(rank) : ""));
  }
  verdict.words = joined(parts, "; ");
  return verdict;
}

/// The ranks by what they called at the first number at which that is not the same for all, of
/// those that are known.
Inquest::Difference Inquest::first_difference() const {
  std::map<std::uint64_t, Difference> by_call;
  const auto add = [&](std::uint64_t call, std::uint32_t rank, const Standing::Made& made) {
    by_call[call].by_signature[made.signature].push_back(rank);
    by_call[call].quotes[rank] = made.words;
  };
  for (const auto& [rank, standing] : standings) {
    for (const Standing::Made& each : standing.earlier) add(each.call, rank, each);
    // Who does not answer was last asked about another call than the others.
    if (standing.asked.empty()) continue;
    add(standing.about, rank, {.signature = standing.signature, .words = standing.asked});
  }
  for (const auto& [call, calls] : by_call) {
    if (calls.by_signature.size() > 1) return calls;
  }
  return {};
}

/// Whether some ranks made another call under the number that somebody complains of, or before.
std::optional<Verdict> Inquest::of_different_calls() const {
  const bool asked = std::any_of(reports.begin(), reports.end(), [](const auto& each) {
    return each.second.code == ErrorCode::mismatch || each.second.code == ErrorCode::timed_out;
  });
  if (!asked) return std::nullopt;
  const Difference difference = first_difference();
  const auto& by_signature = difference.by_signature;
  if (by_signature.size() < 2) {
    // The others' calls may be known no more; whoever complained knows whom it disagrees with.
    const Report* const report = first(ErrorCode::mismatch);
    if (report == nullptr) return std::nullopt;
    std::string words = report->words;
    for (const std::uint32_t rank : report->ranks)
      words += "; " + name(rank) + " " + last_seen(rank);
    return Verdict{.code = ErrorCode::mismatch, .ranks = report->ranks, .words = words};
  }
  // Most are taken to be right; of as many on each side, nobody.
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
  verdict.words = "ranks call different things: " + joined(parts, ", but ") +
                  "; let all ranks make the same calls in the same order";
  return verdict;
}

Verdict Inquest::of_late(std::uint32_t reporter, const Report& report) const {
  std::set<std::uint32_t> late(mute.begin(), mute.end());
  // A rank that is ahead of the last, or that answers where another does not, may itself wait for
  // that one: in a message, say, before its first call.
  if (mute.empty()) {
    std::uint64_t least = report.call;
    for (const auto& [rank, standing] : standings) least = std::min(least, standing.call);
    for (const auto& [rank, standing] : standings) {
      if (standing.call == least && least < report.call) late.insert(rank);
    }
  }
  if (late.empty()) late.insert(report.ranks.begin(), report.ranks.end());
  Verdict verdict{.code = ErrorCode::timed_out, .ranks = {late.begin(), late.end()}};
  std::vector<std::string> parts{name(reporter) + " waited in vain: " + report.words};
  for (const std::uint32_t rank : late) parts.push_back(lateness(rank));
  verdict.words = joined(parts, "; ");
  return verdict;
}

/// The shortest way from one rank to another on which each waits for a message of the next, or for
/// the next to receive one; empty if there is none.
std::vector<std::uint32_t> Inquest::waiting_path(std::uint32_t from, std::uint32_t to) const {
  std::map<std::uint32_t, std::uint32_t> before{{from, from}};
  std::vector<std::uint32_t> reached{from};
  for (std::size_t i = 0; i < reached.size() && !before.contains(to); ++i) {
    const auto standing = standings.find(reached[i]);
    if (standing == standings.end()) continue;
    for (const Standing::Wait& wait : standing->second.waits) {
      if (before.emplace(wait.rank, reached[i]).second) reached.push_back(wait.rank);
    }
  }
  if (!before.contains(to)) return {};
  std::vector<std::uint32_t> path{to};
  while (path.back() != from) path.push_back(before.at(path.back()));
  std::reverse(path.begin(), path.end());
  return path;
}

/// Whether the message that came too late was waited for in a cycle, which no time would have
/// ended.
std::optional<Verdict> Inquest::of_cycle(std::uint32_t reporter, const Report& report) const {
  const auto own = standings.find(reporter);
  if (own == standings.end()) return std::nullopt;
  for (const Standing::Wait& wait : own->second.waits) {
    if (std::find(report.ranks.begin(), report.ranks.end(), wait.rank) == report.ranks.end()) {
      continue;
    }
    std::vector<std::uint32_t> cycle = waiting_path(wait.rank, reporter);
    if (cycle.empty()) continue;
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const std::uint32_t next = cycle[(i + 1) % cycle.size()];
      const auto& waits = standings.at(cycle[i]).waits;
      const bool receives = std::any_of(
          waits.begin(), waits.end(),
          [&](const Standing::Wait& each) { return each.rank == next && each.receives; });
      const std::string whom = next == cycle[i] ? "itself" : "rank " + std::to_string(next);
      parts.push_back(
          name(cycle[i]) + " waits " +
          (receives ? "for a message from " + whom : "for " + whom + " to receive one"));
    }
    Verdict verdict{.code = ErrorCode::timed_out, .ranks = cycle};
    verdict.words = "ranks wait for each other in a cycle: " + joined(parts, ", ") +
                    "; let one of them send first, or all send and receive at once";
    std::sort(verdict.ranks.begin(), verdict.ranks.end());
    return verdict;
  }
  return std::nullopt;
}

/// The rank that sought the verdict has fallen silent before it could say why.
Verdict Inquest::of_mute() const {
  std::vector<std::string> parts;
  for (const std::uint32_t rank : mute) parts.push_back(lateness(rank));
  return {.code = ErrorCode::timed_out, .ranks = mute, .words = joined(parts, "; ")};
}

std::string Inquest::lateness(std::uint32_t rank) const {
  const bool is_mute = std::find(mute.begin(), mute.end(), rank) != mute.end();
  return name(rank) + " " + (is_mute ? "does not answer, and " : "") + last_seen(rank);
}

}  // namespace tutti
