#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/proved_schedule.hpp>
#include <tutti/schedule/schedule_source.hpp>

namespace tutti {

/// The way a call is carried out: by an algorithm of the table, or by a schedule given as a value.
class Method {
 public:
  // NOLINTBEGIN(google-explicit-constructor): both convert to a method.
  Method(const Algorithm& algorithm) : what_(&algorithm) {}
  Method(ProvedSchedule schedule) : what_(std::move(schedule)) {}
  // NOLINTEND(google-explicit-constructor)

  /// Null for a schedule.
  [[nodiscard]] const Algorithm* algorithm() const {
    const auto* const row = std::get_if<const Algorithm*>(&what_);
    return row == nullptr ? nullptr : *row;
  }
  /// Null for an algorithm.
  [[nodiscard]] const ProvedSchedule* schedule() const {
    return std::get_if<ProvedSchedule>(&what_);
  }

  /// "allreduce/ring"; for a schedule, the name given by its author.
  [[nodiscard]] std::string_view name() const;
  /// The unique name used in messages; for a schedule it includes the content hash.
  [[nodiscard]] std::string_view label() const;
  /// The same number on all ranks that use the same method: a hash of the name of an algorithm, or
  /// of the content of a schedule.
  [[nodiscard]] std::uint64_t identity() const;

  [[nodiscard]] Collective collective() const;
  [[nodiscard]] const ScheduleTraits& traits() const;
  // Two of them, which the selector asks of every candidate, so that it derives no others.
  [[nodiscard]] bool needs_counts() const;
  [[nodiscard]] bool folds_in_rank_order() const;
  [[nodiscard]] bool needs_shape() const;

  /// Why it does not support this problem; empty if it does.
  [[nodiscard]] std::string refusal(const Problem& problem) const;

  // These throw unsupported with the refusal, or invalid_argument for a schedule that does not fit.

  [[nodiscard]] Contract contract(const Problem& problem) const;
  [[nodiscard]] Program program(const Problem& problem, Rank self) const;
  [[nodiscard]] Schedule build(const Problem& problem) const;
  /// Creates programs on demand. Requires: this and the problem outlive the source.
  [[nodiscard]] ScheduleSource source(const Problem& problem) const;

  friend bool operator==(const Method& a, const Method& b) { return a.identity() == b.identity(); }

 private:
  std::variant<const Algorithm*, ProvedSchedule> what_;
};

/// The prefix of a path of a schedule, where otherwise the name of an algorithm is expected.
inline constexpr std::string_view file_prefix = "file:";

/// Loads and proves the schedule of "file:PATH". A relative path starts in `folder`, or in the
/// working directory if `folder` is empty. Throws invalid_argument that names the file.
[[nodiscard]] ProvedSchedule schedule_named(std::string_view text, const std::string& folder);

}  // namespace tutti
