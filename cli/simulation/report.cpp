#include "cli/simulation/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <tutti/sim/simulation_json.hpp>

#include "cli/console/text.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "sim/busiest_links.hpp"

namespace tutti::cli {
namespace {

using Align = TextTable::Align;

std::string percent_of(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * part);
  return text;
}

std::string when_ranks_end(const Simulation& simulation) {
  std::vector<double> times = simulation.finished;
  std::sort(times.begin(), times.end());
  if (times.front() == times.back()) return "all ranks at the same time";
  return "ranks from " + format_seconds(times.front()) + " on, half of them by " +
         format_seconds(times[times.size() / 2]);
}

std::string links_text(const Simulation& simulation, const Network& network) {
  constexpr std::size_t most = 8;
  TextTable table({{"busiest links", Align::left},
                   {"carried", Align::right},
                   {"busy", Align::right},
                   {"used", Align::right}});
  for (const BusyLink& each : busiest_links(simulation, network, most)) {
    table.add({network.describe(each.link),
               with_commas(static_cast<std::uint64_t>(std::llround(each.use.bytes))),
               percent_of(each.use.busy / simulation.seconds), percent_of(each.utilisation)});
  }
  return table.text();
}

/// The parts of the seconds of the critical path.
struct PathSums {
  std::uint64_t messages = 0;
  double alone = 0;
  double held_up = 0;
  double adding = 0;
};

PathSums sums_of(const std::vector<Activity>& path) {
  PathSums sums;
  for (const Activity& each : path) {
    const double seconds = each.end - each.begin;
    if (each.kind == Activity::Kind::sum) {
      sums.adding += seconds;
    } else {
      ++sums.messages;
      sums.alone += std::min(seconds, each.alone);
      sums.held_up += std::max(0.0, seconds - each.alone);
    }
  }
  return sums;
}

std::string path_text(const Simulation& simulation) {
  const PathSums sums = sums_of(simulation.critical_path);
  std::string text = "critical path: " + with_commas(sums.messages) + " messages, " +
                     format_seconds(sums.alone) + " on free links";
  if (sums.held_up > 1e-6 * simulation.seconds) {
    text += ", " + format_seconds(sums.held_up) + " more as others use them";
  }
  if (sums.adding > 0) text += ", " + format_seconds(sums.adding) + " adding";
  text += "\n";
  constexpr std::size_t most = 10;
  TextTable table({{"from", Align::right},
                   {"to", Align::right},
                   {"what", Align::left},
                   {"bytes", Align::right},
                   {"round", Align::right},
                   {"alone", Align::right}});
  for (const Activity& each : simulation.critical_path) {
    if (&each - simulation.critical_path.data() == most) break;
    const std::string rank = std::to_string(each.rank);
    const bool message = each.kind == Activity::Kind::message;
    table.add({format_seconds(each.begin), format_seconds(each.end),
               message ? rank + " → " + std::to_string(each.peer) : rank + " adds",
               with_commas(each.bytes), std::to_string(each.round + 1),
               format_seconds(each.alone)});
  }
  text += table.text();
  if (simulation.critical_path.size() > most) {
    text += "… and " + with_commas(simulation.critical_path.size() - most) + " more\n";
  }
  return text;
}

}  // namespace

std::string percent(std::optional<double> part) { return part ? percent_of(*part) : ""; }

std::string report_text(const SimReport& report, const Network& network, const std::string& rules) {
  const Simulation& simulation = report.simulation;
  std::string text = report.name + " on " + network.name + ": " +
                     std::to_string(report.contract.ranks) + " ranks, " +
                     format_bytes(report.size) + "\n" + rules + "\n";
  text += format_seconds(simulation.seconds);
  if (report.shares.bound) {
    text += ", " + percent(report.shares.bound) + " of the bound for these ports";
  }
  if (report.shares.composition) {
    text += " (" + percent(report.shares.composition) + " of reduce_scatter then allgather)";
  }
  text += "; " + with_commas(simulation.messages) + " messages, " + with_commas(simulation.bytes) +
          " bytes; " + when_ranks_end(simulation);
  if (simulation.by_symmetry) {
    text += simulation.simulated_ranks == 1
                ? " (one was simulated for all)"
                : " (" + with_commas(simulation.simulated_ranks) + " were simulated for all)";
  }
  text += "\n\n" + links_text(simulation, network) + "\n" + path_text(simulation);
  return text;
}

void write_report_json(const SimReport& report, const Network& network, const Json& rules,
                       const TextSink& sink) {
  Json members{{"schedule", report.name},
               {"ranks", report.contract.ranks},
               {"size", report.size},
               {"rules", rules}};
  if (report.shares.bound) members["part_of_bound"] = *report.shares.bound;
  if (report.shares.composition) members["part_of_composition"] = *report.shares.composition;
  if (!report.refusal.empty()) {
    members["refusal"] = report.refusal;
    sink(json_text(members, 1) + "\n");
    return;
  }
  const std::string text = json_text(members);
  write_json(report.simulation, network, sink, std::string_view(text).substr(1, text.size() - 2));
}

}  // namespace tutti::cli
