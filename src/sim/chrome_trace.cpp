#include <algorithm>
#include <map>

#include <tutti/sim/simulation_json.hpp>

#include "core/json_value.hpp"
#include "sim/busiest_links.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t ranks_process = 0;
constexpr std::uint32_t links_process = 1;
constexpr double microseconds = 1e6;
constexpr std::size_t most_links = 16;

/// Tracks without overlaps, as trace viewers require: each activity goes to the first free track of
/// its rank.
class Tracks {
 public:
  /// The number of the track. Requires: activities are passed in the order of their start.
  std::uint32_t place(const Activity& activity) {
    std::vector<double>& lanes = free_[activity.rank];
    const auto lane =
        static_cast<std::size_t>(std::find_if(lanes.begin(), lanes.end(),
                                              [&](double free) { return free <= activity.begin; }) -
                                 lanes.begin());
    if (lane == lanes.size()) lanes.push_back(0);
    lanes[lane] = activity.end;
    return number(activity.rank, lane);
  }

  [[nodiscard]] Json names() const {
    Json events = Json::array();
    for (const auto& [rank, lanes] : free_) {
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        const std::string more = lane == 0 ? "" : " (" + std::to_string(lane + 1) + ")";
        events.push_back({{"ph", "M"},
                          {"name", "thread_name"},
                          {"pid", ranks_process},
                          {"tid", number(rank, lane)},
                          {"args", {{"name", "rank " + std::to_string(rank) + more}}}});
      }
    }
    return events;
  }

 private:
  static std::uint32_t number(std::uint32_t rank, std::size_t lane) {
    constexpr std::uint32_t most_lanes = 4096;
    return rank * most_lanes + static_cast<std::uint32_t>(lane);
  }

  std::map<std::uint32_t, std::vector<double>> free_;  // By rank: when each track is free again.
};

Json name_of_process(std::uint32_t process, const char* name) {
  return {{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", name}}}};
}

std::string title(const Activity& activity) {
  if (activity.kind == Activity::Kind::sum) return "add";
  return "→ " + std::to_string(activity.peer);
}

void add_activities(const Simulation& simulation, Json& events) {
  Tracks tracks;
  for (const Activity& each : simulation.activities) {
    events.push_back({{"ph", "X"},
                      {"name", title(each)},
                      {"cat", each.kind == Activity::Kind::message ? "message" : "sum"},
                      {"pid", ranks_process},
                      {"tid", tracks.place(each)},
                      {"ts", each.begin * microseconds},
                      {"dur", (each.end - each.begin) * microseconds},
                      {"args",
                       {{"round", each.round},
                        {"bytes", each.bytes},
                        {"alone_us", each.alone * microseconds}}}});
  }
  for (const Json& each : tracks.names()) events.push_back(each);
}

void add_links(const Simulation& simulation, const Network& network, Json& events) {
  const UtilisationSeries& series = simulation.utilisation;
  if (series.intervals() == 0) return;
  for (const BusyLink& each : busiest_links(simulation, network, most_links)) {
    const double most = network[each.link].bytes_per_second * series.seconds;
    for (std::size_t i = 0; i <= series.intervals(); ++i) {
      const bool over = i == series.intervals();
      const double bytes = over ? 0 : series.carried(i, each.link);
      events.push_back({{"ph", "C"},
                        {"name", network.describe(each.link)},
                        {"pid", links_process},
                        {"ts", static_cast<double>(i) * series.seconds * microseconds},
                        {"args", {{"percent", 100 * bytes / most}}}});
    }
  }
}

}  // namespace

std::string to_chrome_trace(const Simulation& simulation, const Network& network) {
  Json events = Json::array();
  events.push_back(name_of_process(ranks_process, "ranks"));
  events.push_back(name_of_process(links_process, "busiest links"));
  add_activities(simulation, events);
  add_links(simulation, network, events);
  const Json document{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}};
  return json_text(document) + "\n";
}

}  // namespace tutti
