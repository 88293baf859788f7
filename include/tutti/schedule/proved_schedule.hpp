#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/schedule_traits.hpp>

namespace tutti {

/// A schedule that verify() has passed, in place and out of place: one that can be run. Give it to
/// calls in CallOptions.
///
/// A value that is cheap to copy: copies share what they hold, which never changes.
class TUTTI_API ProvedSchedule {
 public:
  [[nodiscard]] const Schedule& schedule() const { return content_->schedule; }
  [[nodiscard]] const std::string& name() const { return content_->schedule.name; }
  [[nodiscard]] const Contract& contract() const { return content_->schedule.contract; }
  /// content_hash() of the schedule.
  [[nodiscard]] std::uint64_t hash() const { return content_->hash; }
  [[nodiscard]] const ScheduleTraits& traits() const { return content_->traits; }

  /// By which messages tell schedules apart: "schedule 'my_ring' 3f2a9c0d12345678".
  [[nodiscard]] const std::string& label() const { return content_->label; }

  /// Why it cannot do a collective among so many ranks, with this root where there is one; empty if
  /// it can.
  [[nodiscard]] std::string misfit(Collective collective, std::uint32_t ranks, Rank root) const;

  /// Whether they do the same, under whatever names.
  friend bool operator==(const ProvedSchedule& a, const ProvedSchedule& b) {
    return a.hash() == b.hash();
  }

 private:
  friend ProvedSchedule prove(Schedule schedule);

  struct Content {
    Schedule schedule;
    std::uint64_t hash = 0;
    ScheduleTraits traits{};
    std::string label{};
  };

  explicit ProvedSchedule(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

  std::shared_ptr<const Content> content_;
};

/// Verifies the schedule, once and for all calls by it. Throws invalid_argument with the first
/// violations, the same on every rank that has the same schedule; unsupported if it is too large to
/// be verified.
[[nodiscard]] TUTTI_API ProvedSchedule prove(Schedule schedule);

}  // namespace tutti
