#include "cli/bench/head.hpp"

#include <unistd.h>

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

BenchPlace own_place() {
  BenchPlace place{.pid = ::getpid()};
  if (::gethostname(place.host.data(), place.host.size() - 1) != 0) place.host[0] = '?';
  return place;
}

std::string bench_head(const BenchPlan& plan, const std::string& ways) {
  const bool is_shared = plan.memory == BenchMemory::Kind::shared;
  const std::string name(tutti::name(plan.collective));
  return "# tutti " + std::string(version) + " " + name + ": " + ways + ", buffers " +
         (is_shared ? "shared" : "private") +
         (plan.pace.iterations ? "" : ", " + format_seconds(plan.pace.seconds) + " for each time") +
         "\n# Collective test starting: " + name + "\n# nThread 1 nGpus 1 minBytes " +
         std::to_string(plan.least) + " maxBytes " + std::to_string(plan.most) +
         " step: " + plan.step + " warmup iters: " + count_text(plan.pace.warm_ups) +
         " iters: " + count_text(plan.pace.iterations) +
         " agg iters: 1 validation: " + (plan.check ? "1" : "0") + " graph: 0\n#\n";
}

std::string places_text(const std::vector<BenchPlace>& places) {
  std::string text = "# Using devices\n";
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const BenchPlace& each = places[rank];
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(),
                  "#  Rank %2zu Group  0 Pid %6d on %10s device %2zu [cpu] cores\n", rank, each.pid,
                  each.host.data(), rank);
    text += line.data();
  }
  return text;
}

std::string machine_text(const BenchMachine& machine) {
  std::string text = "# Limit of " + std::to_string(machine.cores) +
                     (machine.cores == 1 ? " core" : " cores") + ": flag " +
                     format_seconds(machine.flag);
  if (machine.loopback) {
    text += ", loopback " + gigabytes(machine.loopback->rate) + " and " +
            format_seconds(machine.loopback->latency);
  }
  for (const BenchMachine::Memory& each : machine.memory) {
    text += "\n#  " + format_bytes(each.bytes) + ": copy " + gigabytes(each.copy) + ", sum " +
            gigabytes(each.sum);
  }
  return text + "\n";
}

}  // namespace tutti::cli
