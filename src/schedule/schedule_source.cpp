#include <tutti/schedule/schedule_source.hpp>

namespace tutti {

ScheduleSource source_of(const Schedule& schedule) {
  return {.name = schedule.name, .contract = schedule.contract, .program = [&schedule](Rank rank) {
            return schedule.program(rank);
          }};
}

}  // namespace tutti
