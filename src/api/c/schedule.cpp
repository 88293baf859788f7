#include <memory>

#include <tutti/network/network_file.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/schedule_json.hpp>
#include <tutti/synthesis/synthesis.hpp>
#include <tutti/tutti.h>

#include "api/c/dispatch.hpp"

// Schedules in C.

namespace tutti {
namespace {

template <class Read>
tuttiResult_t make_schedule(const char* function, tuttiSchedule_t* schedule, Read&& read) noexcept {
  return guarded(function, [&] {
    tuttiSchedule_t& place = pointed_to(schedule, "schedule");
    place = nullptr;
    place = std::make_unique<tuttiSchedule>(tuttiSchedule{.schedule = prove(read())}).release();
  });
}

}  // namespace
}  // namespace tutti

using namespace tutti;

tuttiResult_t tuttiScheduleFromJson(tuttiSchedule_t* schedule, const char* json) {
  return make_schedule(__func__, schedule,
                       [&] { return schedule_from_json(&pointed_to(json, "json")); });
}

tuttiResult_t tuttiScheduleLoad(tuttiSchedule_t* schedule, const char* path) {
  return make_schedule(__func__, schedule,
                       [&] { return load_schedule(&pointed_to(path, "path")); });
}

tuttiResult_t tuttiScheduleSynthesize(tuttiSchedule_t* schedule, tuttiCollective_t collective,
                                      const char* network, int root, uint64_t bytes) {
  return make_schedule(__func__, schedule, [&] {
    if (root < 0) {
      throw Error(ErrorCode::invalid_argument, "root " + std::to_string(root) + " is negative");
    }
    return synthesize(load_network(&pointed_to(network, "network")), collective_of(collective),
                      {.root = Rank{static_cast<std::uint32_t>(root)}, .bytes = bytes})
        .schedule;
  });
}

tuttiResult_t tuttiScheduleHash(tuttiSchedule_t schedule, uint64_t* hash) {
  return guarded(__func__, [&] {
    pointed_to(hash, "hash") = pointed_to(schedule, "schedule").schedule.hash();
  });
}

tuttiResult_t tuttiScheduleDestroy(tuttiSchedule_t schedule) {
  return guarded(__func__, [&] { delete &pointed_to(schedule, "schedule"); });
}
