#include "sim/workload.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "core/workers.hpp"
#include "sim/assembly.hpp"
#include "sim/reading.hpp"

namespace tutti {
namespace {

/// The number of readings among which the ranks are divided.
std::uint32_t count_readings(const ScheduleSource& source) {
  constexpr std::uint64_t few_steps = 1U << 17;
  constexpr std::uint32_t most = 16;
  const std::uint32_t p = source.contract.ranks;
  if (source.program(Rank{0}).size() * p < few_steps) return 1;
  return std::min({p, most, std::max(1U, std::thread::hardware_concurrency())});
}

std::vector<Reading> read_all(const ScheduleSource& source, const Layout& layout) {
  const std::uint64_t p = source.contract.ranks;
  const std::uint32_t count = count_readings(source);
  const auto first = [&](std::size_t i) { return static_cast<std::uint32_t>(p * i / count); };
  std::vector<std::optional<Reading>> parts(count);
  in_parallel(count,
              [&](std::size_t i) { parts[i].emplace(source, layout, first(i), first(i + 1)); });
  std::vector<Reading> readings;
  readings.reserve(parts.size());
  for (auto& each : parts) readings.push_back(*std::move(each));
  return readings;
}

std::vector<std::uint32_t> add_routes(const Reading& reading, RouteTable& table) {
  std::vector<std::uint32_t> routes;
  routes.reserve(reading.hops().size());
  for (const Reading::Hop& hop : reading.hops()) {
    routes.push_back(table.add(Rank{hop.from}, Rank{hop.to}));
  }
  return routes;
}

}  // namespace

Workload::Workload(const ScheduleSource& source, const Layout& layout, RouteTable& table) {
  std::vector<Reading> readings = read_all(source, layout);
  Assembly assembly(*this, readings, source);
  assembly.deliver();
  assembly.meet();
  std::vector<std::vector<std::uint32_t>> routes;
  routes.reserve(readings.size());
  for (const Reading& each : readings) routes.push_back(add_routes(each, table));
  assembly.write(routes);
}

Workload Workload::of_one_rank(const ScheduleSource& source, const Layout& layout,
                               std::span<const std::uint32_t> route_by_distance,
                               std::vector<std::uint32_t>& distances) {
  Workload one;
  Reading reading(source, layout, 0, 1);
  Assembly assembly(one, {&reading, 1}, source);
  assembly.deliver_to_itself(distances);
  assembly.meet();
  std::vector<std::uint32_t> routes;
  for (const Reading::Hop& hop : reading.hops()) routes.push_back(route_by_distance[hop.to]);
  assembly.write({&routes, 1});
  return one;
}

}  // namespace tutti
