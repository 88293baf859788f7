#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/proved_schedule.hpp>
#include <tutti/schedule/schedule_source.hpp>

namespace tutti {

/// What a call is done by: an algorithm of the table, or a schedule given as a value.
class Method {
 public:
  // NOLINTBEGIN(google-explicit-constructor): either is one.
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

  /// "allreduce/ring"; of a schedule, what its author calls it.
  [[nodiscard]] std::string_view name() const;
  /// By which messages tell it apart from all others: of a schedule, with its content hash.
  [[nodiscard]] std::string_view label() const;
  /// The same on all ranks that do the same: of the name of an algorithm, or the content of a
  /// schedule.
  [[nodiscard]] std::uint64_t identity() const;

  [[nodiscard]] Collective collective() const;
  [[nodiscard]] const ScheduleTraits& traits() const;
  [[nodiscard]] bool needs_shape() const;

  /// Why it cannot do its collective for this problem; empty if it can.
  [[nodiscard]] std::string refusal(const Problem& problem) const;

  // These throw unsupported with the refusal, or invalid_argument for a schedule that does not fit.

  [[nodiscard]] Contract contract(const Problem& problem) const;
  [[nodiscard]] Program program(const Problem& problem, Rank self) const;
  [[nodiscard]] Schedule build(const Problem& problem) const;
  /// Programs when asked for. Requires: this and the problem outlive the source.
  [[nodiscard]] ScheduleSource source(const Problem& problem) const;

  friend bool operator==(const Method& a, const Method& b) { return a.identity() == b.identity(); }

 private:
  std::variant<const Algorithm*, ProvedSchedule> what_;
};

/// With this in front, what follows is the path of a schedule and not the name of an algorithm.
inline constexpr std::string_view file_prefix = "file:";

/// The schedule that "file:PATH" names, proved. A relative path begins in `folder`, or where the
/// program runs if that is empty. Throws invalid_argument that names the file.
[[nodiscard]] ProvedSchedule schedule_named(std::string_view text, const std::string& folder);

}  // namespace tutti
