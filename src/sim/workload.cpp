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
std::uint32_t count_readings(const ScheduleSource& source, std::uint32_t p) {
  constexpr std::uint64_t few_steps = 1U << 17;
  constexpr std::uint32_t most = 16;
  if (source.program(Rank{0}).size() * p < few_steps) return 1;
  return std::min({p, most, std::max(1U, std::thread::hardware_concurrency())});
}

std::vector<Reading> read_first(std::uint32_t ranks, const ScheduleSource& source,
                                const Layout& layout) {
  const std::uint64_t p = ranks;
  const std::uint32_t count = count_readings(source, ranks);
  const auto first = [&](std::size_t i) { return static_cast<std::uint32_t>(p * i / count); };
  std::vector<std::optional<Reading>> parts(count);
  in_parallel(count,
              [&](std::size_t i) { parts[i].emplace(source, layout, first(i), first(i + 1)); });
  std::vector<Reading> readings;
  readings.reserve(parts.size());
  for (auto& each : parts) readings.push_back(*std::move(each));
  return readings;
}

std::vector<std::uint32_t> routes_of(const Reading& reading, const Workload::RouteOf& route_of) {
  std::vector<std::uint32_t> routes;
  routes.reserve(reading.hops().size());
  for (const Reading::Hop& hop : reading.hops()) routes.push_back(route_of(hop.from, hop.to));
  return routes;
}

}  // namespace

void Workload::build(const ScheduleSource& source, const Layout& layout, std::uint32_t count,
                     const RouteOf& route_of, bool in_order,
                     std::vector<std::uint32_t>* receivers) {
  std::vector<Reading> readings = read_first(count, source, layout);
  Assembly assembly(*this, readings, source);
  assembly.deliver(receivers);
  assembly.meet();
  std::vector<std::vector<std::uint32_t>> routes;
  routes.reserve(readings.size());
  for (const Reading& each : readings) routes.push_back(routes_of(each, route_of));
  assembly.write(routes, in_order);
}

Workload::Workload(const ScheduleSource& source, const Layout& layout, RouteTable& table,
                   bool in_order) {
  const auto add = [&](std::uint32_t from, std::uint32_t to) { return table.add(from, to); };
  build(source, layout, source.contract.ranks, add, in_order, nullptr);
}

Workload Workload::of_first_ranks(const ScheduleSource& source, const Layout& layout,
                                  std::uint32_t count, const RouteOf& route_of, bool in_order,
                                  std::vector<std::uint32_t>& receivers) {
  Workload first;
  first.build(source, layout, count, route_of, in_order, &receivers);
  return first;
}

}  // namespace tutti
