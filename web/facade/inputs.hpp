#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/price.hpp>

#include "core/json.hpp"

/// The arguments of questions. Sizes, times and rates are texts as on the command line: "1MiB",
/// "5us", "100GB/s".
namespace tutti::web {

/// The schedule that a question is about.
struct ScheduleInput {
  const Algorithm* algorithm = nullptr;
  Problem problem{};

  /// Identifies the schedule.
  [[nodiscard]] std::string key() const;
};

/// "algorithm", "ranks", "root", "shape". Without a shape, an algorithm that needs one gets the
/// squarest, as on the command line.
[[nodiscard]] ScheduleInput read_schedule(const JsonReader& arguments);

/// The same for an algorithm of the collective that the arguments name.
[[nodiscard]] ScheduleInput read_problem(const JsonReader& arguments, const Algorithm& algorithm);

/// "size", in bytes.
[[nodiscard]] std::uint64_t read_size(const JsonReader& arguments);

/// "alpha", "bandwidth", "gamma", "node", "node_alpha", "node_bandwidth".
[[nodiscard]] CostModel read_model(const JsonReader& arguments);

/// "ports": "one" or "unlimited".
[[nodiscard]] Ports read_ports(const JsonReader& arguments);

/// The number of messages of the algorithm's schedule, by formula. Without a formula, that of the
/// root or of rank 0 times the number of ranks.
[[nodiscard]] std::uint64_t message_count(const ScheduleInput& input);

/// Schedules with more messages are not built: their figures come from closed forms.
inline constexpr std::uint64_t most_messages = 70'000;

}  // namespace tutti::web
