#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tutti/verdict.hpp>

#include "lifeline/rank_status.hpp"

namespace tutti {

/// What one rank says has gone wrong.
struct Report {
  ErrorCode code = ErrorCode::internal;
  std::vector<std::uint32_t> ranks{};  ///< The ranks that it suspects.
  std::uint64_t call = 0;              ///< The call that the reporter was in; 0 if none.
  std::string words{};

  friend bool operator==(const Report&, const Report&) = default;
};

[[nodiscard]] std::string write(const Report& report);
[[nodiscard]] std::optional<Report> read_report(const std::string& text);

/// What all ranks agree on when a communicator fails.
struct AgreedVerdict {
  Verdict verdict{};
  std::vector<std::uint32_t> unresponsive{};  ///< Ranks that did not reply, but may be alive.
  /// The calls with retry that all answering ranks have done. These are complete for all ranks; see
  /// with_retry() and ADR 6.
  std::uint64_t completed = 0;

  friend bool operator==(const AgreedVerdict&, const AgreedVerdict&) = default;
};

[[nodiscard]] std::string write(const AgreedVerdict& verdict);
[[nodiscard]] std::optional<AgreedVerdict> read_agreed_verdict(const std::string& text);

/// All that the proposer knows when it decides on a verdict, and the rules by which it finds the
/// cause and the ranks at fault.
struct FailureInquiry {
  std::map<std::uint32_t, Report> reports{};
  std::map<std::uint32_t, RankStatus> statuses{};  ///< As replied, or as last seen.
  std::map<std::uint32_t, std::string> gone{};     ///< Lost ranks, and how that was noticed.
  std::vector<std::uint32_t> unresponsive{};       ///< Ranks that do not reply, but may be alive.
  std::vector<std::string> whereabouts{};          ///< By rank: "host, process 17".
  std::uint64_t completed = 0;                     ///< As in AgreedVerdict.

  /// The first of these that applies: a rank aborted, a rank is gone, ranks made different calls,
  /// ranks wait in a cycle, a rank is late.
  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] AgreedVerdict agreed_verdict() const {
    return {.verdict = verdict(), .unresponsive = unresponsive, .completed = completed};
  }

 private:
  struct Difference {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_signature{};
    std::map<std::uint32_t, std::string> quotes{};  // By rank.
  };

  [[nodiscard]] Difference first_difference() const;
  [[nodiscard]] std::string name(std::uint32_t rank) const;
  [[nodiscard]] std::string last_seen(std::uint32_t rank) const;
  [[nodiscard]] const Report* first(ErrorCode code) const;
  [[nodiscard]] Verdict of_gone() const;
  [[nodiscard]] std::optional<Verdict> of_different_calls() const;
  [[nodiscard]] Verdict of_late(std::uint32_t reporter, const Report& report) const;
  [[nodiscard]] std::optional<Verdict> of_cycle(std::uint32_t reporter, const Report& report) const;
  [[nodiscard]] bool is_matched(std::uint32_t waiter, const RankStatus::Wait& wait) const;
  [[nodiscard]] std::vector<RankStatus::Wait> unmatched_waits(std::uint32_t rank) const;
  [[nodiscard]] std::vector<std::uint32_t> waiting_path(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Verdict of_unresponsive() const;
  [[nodiscard]] std::string lateness(std::uint32_t rank) const;
};

}  // namespace tutti
