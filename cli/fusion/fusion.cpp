#include "cli/fusion/fusion.hpp"

#include <algorithm>

#include <tutti/network/network_file.hpp>

#include "cli/console/built_schedule.hpp"
#include "cli/console/progress.hpp"
#include "cli/simulation/case.hpp"

namespace tutti::cli {
namespace {

/// The prices of calls of any size.
class Calls {
 public:
  Calls(const FusionTask& task, const Schedule& schedule)
      : model_(task.model), schedule_(schedule), pricer_(schedule) {}

  [[nodiscard]] Price price(std::uint64_t size) const {
    return pricer_.price(even_layout(schedule_.contract, size), model_, Ports::one);
  }

  /// The share of latency in the time of a call.
  [[nodiscard]] double latency(std::uint64_t size) const {
    const double all = price(size).seconds;
    return all > 0 ? price(0).seconds / all : 0;
  }

  /// The smallest size whose share of latency is at most `share`.
  [[nodiscard]] std::optional<std::uint64_t> size_at(double share) const {
    if (price(0).seconds <= 0) return {};
    std::uint64_t above = 1;
    constexpr std::uint64_t most = std::uint64_t{1} << 50;
    while (above < most && latency(above) > share) above *= 2;
    if (above >= most) return {};
    std::uint64_t below = above / 2;
    while (above - below > 1) {
      const std::uint64_t middle = below + (above - below) / 2;
      (latency(middle) > share ? below : above) = middle;
    }
    return above;
  }

 private:
  const CostModel model_;
  const Schedule& schedule_;
  Pricer pricer_;
};

double simulated(const FusionTask& task, const Network& network, std::uint64_t size) {
  const ScheduleSource source = source_of(*task.algorithm, task.problem);
  Routes routes(network);
  return simulate(network, routes, source, even_layout(source.contract, size), simulation_of(task))
      .seconds;
}

}  // namespace

std::uint64_t tensors_in(std::uint64_t bucket, std::uint64_t tensor) {
  return std::max<std::uint64_t>(1, tensor == 0 ? 1 : bucket / tensor);
}

SimulationSettings simulation_of(const FusionTask& task) {
  return {.alpha = task.model.link.alpha, .gamma = task.model.gamma, .ports = 1};
}

Fusion fuse(const FusionTask& task) {
  const Schedule schedule = built_schedule(*task.algorithm, task.problem);
  const Network network = load_network(task.network);
  const Calls calls(task, schedule);
  Fusion found;
  found.routes = Routes(network).policy();
  Progress progress("simulating", task.buckets.size());
  for (const std::uint64_t bucket : task.buckets) {
    const std::uint64_t fused = std::min(tensors_in(bucket, task.tensor), task.tensors);
    const std::uint64_t full = task.tensors / fused;
    const std::uint64_t rest = task.tensors % fused;  // In a last bucket that is not full.
    FusionRow row{.bucket = fused * task.tensor, .calls = full + (rest > 0 ? 1 : 0)};
    if (!found.rows.empty() && found.rows.back().bucket == row.bucket) continue;
    const auto all = [&](double one, double last) {
      return static_cast<double>(full) * one + (rest > 0 ? last : 0);
    };
    row.call = calls.price(row.bucket).seconds;
    row.seconds = all(row.call, calls.price(rest * task.tensor).seconds);
    row.latency =
        row.seconds > 0 ? static_cast<double>(row.calls) * calls.price(0).seconds / row.seconds : 0;
    row.simulated = all(simulated(task, network, row.bucket),
                        rest > 0 ? simulated(task, network, rest * task.tensor) : 0);
    found.rows.push_back(row);
    progress.advance();
  }
  found.half = calls.size_at(0.5);
  found.tenth = calls.size_at(0.1);
  return found;
}

}  // namespace tutti::cli
