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
  std::vector<std::uint32_t> ranks{};  ///< Whom it suspects.
  std::uint64_t call = 0;              ///< In which call it was; 0 if in none.
  std::string words{};

  friend bool operator==(const Report&, const Report&) = default;
};

[[nodiscard]] std::string write(const Report& report);
[[nodiscard]] std::optional<Report> read_report(const std::string& text);

/// What is agreed on when a communicator comes to its end.
struct AgreedVerdict {
  Verdict verdict{};
  std::vector<std::uint32_t>
      unresponsive{};  ///< Ranks that did not answer, and are not known to be gone.
  /// The calls with retry that all ranks have done which were heard. They are complete for all
  /// ranks; see with_retry().
  std::uint64_t completed = 0;

  friend bool operator==(const AgreedVerdict&, const AgreedVerdict&) = default;
};

[[nodiscard]] std::string write(const AgreedVerdict& ruling);
[[nodiscard]] std::optional<AgreedVerdict> read_agreed_verdict(const std::string& text);

/// All that is known when a verdict is to be found.
struct FailureInquiry {
  std::map<std::uint32_t, Report> reports{};
  std::map<std::uint32_t, RankStatus> statuses{};  ///< Of those who answered, or were last seen.
  std::map<std::uint32_t, std::string> gone{};     ///< Who is, and by what that was noticed.
  std::vector<std::uint32_t> unresponsive{};       ///< Who does not answer though not gone.
  std::vector<std::string> whereabouts{};          ///< By rank: "host, process 17".
  std::uint64_t completed = 0;                     ///< As in AgreedVerdict.

  /// The most telling cause first: somebody gave up, is gone, calls something else, or is late.
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
  [[nodiscard]] std::vector<std::uint32_t> waiting_path(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Verdict of_mute() const;
  [[nodiscard]] std::string lateness(std::uint32_t rank) const;
};

}  // namespace tutti
