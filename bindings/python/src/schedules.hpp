#pragma once

#include <memory>
#include <optional>

#include <nanobind/nanobind.h>

#include <tutti/schedule/proved_schedule.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti::python {

namespace nb = nanobind;

/// A schedule of Python: immutable, and proved once, on first use.
class ScheduleValue {
 public:
  explicit ScheduleValue(Schedule schedule)
      : schedule_(std::make_shared<const Schedule>(std::move(schedule))) {}

  [[nodiscard]] const Schedule& schedule() const { return *schedule_; }
  [[nodiscard]] std::shared_ptr<const Schedule> share() const { return schedule_; }
  /// Throws invalid_argument with the first violations.
  [[nodiscard]] const ProvedSchedule& proved() {
    if (!proved_) proved_ = prove(*schedule_);
    return *proved_;
  }

 private:
  std::shared_ptr<const Schedule> schedule_;
  std::optional<ProvedSchedule> proved_;
};

/// The proved schedule of the argument `schedule` of a call.
[[nodiscard]] const ProvedSchedule& proved(nb::handle schedule, const char* call);

void register_schedules(nb::module_& module);
void register_programs(nb::module_& module);

}  // namespace tutti::python
