#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/schedule_traits.hpp>

namespace tutti {

/// A schedule that verify() has passed, in place and out of place, so that it can be run. Pass it
/// to calls in CallOptions.
///
/// A value that is cheap to copy: copies share immutable content.
class TUTTI_API ProvedSchedule {
 public:
  [[nodiscard]] const Schedule& schedule() const { return content_->schedule; }
  [[nodiscard]] const std::string& name() const { return content_->schedule.name; }
  [[nodiscard]] const Contract& contract() const { return content_->schedule.contract; }
  /// content_hash() of the schedule.
  [[nodiscard]] std::uint64_t hash() const { return content_->hash; }
  [[nodiscard]] const ScheduleTraits& traits() const { return content_->traits; }

  /// Identifies the schedule in messages: "schedule 'my_ring' 3f2a9c0d12345678".
  [[nodiscard]] const std::string& label() const { return content_->label; }

  /// Why it cannot do the collective among `ranks` ranks, with this root if the collective has one;
  /// empty if it can.
  [[nodiscard]] std::string misfit(Collective collective, std::uint32_t ranks, Rank root) const;

  /// True if the schedules have the same contract and steps. Names are ignored.
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

/// Verifies the schedule once, for all calls that use it. Throws invalid_argument with the first
/// violations, the same on every rank that has the same schedule. Throws unsupported if the
/// schedule is too large to verify.
[[nodiscard]] TUTTI_API ProvedSchedule prove(Schedule schedule);

}  // namespace tutti
