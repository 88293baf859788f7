#include "cli/bench/head.hpp"

#include <array>
#include <cstdio>

#include <tutti/version.hpp>

#include "cli/console/text.hpp"
#include "core/quantity.hpp"

namespace tutti::cli {
namespace {

std::string count_text(const std::optional<std::size_t>& count) {
  return std::to_string(count.value_or(0));
}

std::string gigabytes(double rate) { return fixed(rate / 1e9, 1) + "GB/s"; }

}  // namespace

std::string bench_head(const BenchPlan& plan, const std::string& transport) {
  const measure::Workload& workload = plan.workload;
  const measure::Pace& pace = workload.pace;
  const bool is_shared = workload.memory == measure::BufferPair::Kind::shared;
  const std::string name(tutti::name(workload.collective));
  return "# tutti " + std::string(version) + " " + name + ": " + transport + ", buffers " +
         (is_shared ? "shared" : "private") + (workload.prepared ? ", prepared calls" : "") +
         (pace.iterations ? "" : ", " + format_seconds(pace.seconds) + " for each time") +
         "\n# Collective test starting: " + name + "\n# nThread 1 nGpus 1 minBytes " +
         std::to_string(plan.sizes.smallest()) + " maxBytes " +
         std::to_string(plan.sizes.largest()) + " step: " + plan.sizes.step_text() +
         " warmup iters: " + count_text(pace.warm_ups) + " iters: " + count_text(pace.iterations) +
         " agg iters: 1 validation: " + (workload.check ? "1" : "0") + " graph: 0\n#\n";
}

std::string places_text(const std::vector<measure::Place>& places) {
  std::string text = "# Using devices\n";
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const measure::Place& each = places[rank];
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(),
                  "#  Rank %2zu Group  0 Pid %6d on %10s device %2zu [cpu] cores\n", rank, each.pid,
                  each.host.data(), rank);
    text += line.data();
  }
  return text;
}

std::string machine_text(const measure::Machine& machine) {
  std::string text = "# Limit of " + std::to_string(machine.cores) +
                     (machine.cores == 1 ? " core" : " cores") + ": flag " +
                     format_seconds(machine.flag) + ", note " + format_seconds(machine.note);
  if (machine.loopback) {
    text += ", loopback " + gigabytes(machine.loopback->rate) + " and " +
            format_seconds(machine.loopback->latency);
  }
  for (const measure::Machine::Memory& each : machine.memory) {
    text += "\n#  " + format_bytes(each.bytes) + ": copy " + gigabytes(each.copy) + ", sum " +
            gigabytes(each.out_of_place.once) + ", to all " +
            gigabytes(each.out_of_place.everywhere) + ", in place " +
            gigabytes(each.in_place.everywhere);
  }
  return text + "\n";
}

}  // namespace tutti::cli
