#include <algorithm>
#include <cstdio>
#include <memory>

#include <tutti/error.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/fusion/fusion.hpp"
#include "cli/fusion/measurement.hpp"
#include "cli/simulation/rules.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "core/reject.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  ProblemOptions problem;
  ModelOptions model;
  std::uint64_t tensors = 1000;
  std::string tensor = "1MB";
  std::vector<std::string> buckets{"2MB", "5MB", "10MB", "25MB", "100MB"};
  std::string topo;
  std::string transport = "shm";
  bool measure = false;
  bool json = false;
};

/// The exercise names no number of ranks.
constexpr std::uint32_t usual_ranks = 16;

std::vector<std::uint64_t> bucket_sizes(const Options& options) {
  std::vector<std::uint64_t> sizes{parse_bytes(options.tensor)};
  for (const std::string& each : options.buckets) sizes.push_back(parse_bytes(each));
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// One switch, whose links have the bandwidth of the model.
std::string usual_network(std::uint32_t ranks, const CostModel& model) {
  return "star:p=" + std::to_string(ranks) + ",latency=0,bandwidth=" +
         std::to_string(static_cast<std::uint64_t>(1 / model.link.beta + 0.5)) + "B/s";
}

FusionTask task_of(const Options& options) {
  FusionTask task;
  task.algorithm =
      options.words.empty() ? &algorithm("allreduce/ring") : &algorithm_named(options.words);
  ProblemOptions problem = options.problem;
  if (problem.ranks == 0 && problem.shape.empty()) problem.ranks = usual_ranks;
  task.problem = problem.problem(*task.algorithm);
  task.model = options.model.model();
  task.tensors = options.tensors;
  task.tensor = parse_bytes(options.tensor);
  if (task.tensor == 0) reject("a tensor of no bytes costs the same in every bucket");
  task.buckets = bucket_sizes(options);
  task.network =
      options.topo.empty() ? usual_network(task.problem.ranks, task.model) : options.topo;
  return task;
}

/// Decimal, as buckets are named: "25MB".
std::string size_text(std::uint64_t bytes) {
  for (const auto& [unit, factor] :
       {std::pair{"GB", std::uint64_t{1'000'000'000}}, std::pair{"MB", std::uint64_t{1'000'000}},
        std::pair{"kB", std::uint64_t{1'000}}}) {
    if (bytes >= factor && bytes % (factor / 10) == 0) {
      const std::string text = fixed(static_cast<double>(bytes) / static_cast<double>(factor), 1);
      return (text.ends_with(".0") ? text.substr(0, text.size() - 2) : text) + unit;
    }
  }
  return with_commas(bytes);
}

void print(const Options& options, const FusionTask& task, const Fusion& found) {
  using Align = TextTable::Align;
  TextTable table({{"bucket", Align::right},
                   {"calls", Align::right},
                   {"one call", Align::right},
                   {"all, by formula", Align::right},
                   {"latency", Align::right},
                   {"faster", Align::right},
                   {"all, simulated", Align::right}});
  for (const FusionRow& row : found.rows) {
    table.add({size_text(row.bucket), with_commas(row.calls), format_seconds(row.call),
               format_seconds(row.seconds), fixed(100 * row.latency, 1) + " %",
               fixed(found.rows.front().seconds / row.seconds, 2) + "x",
               format_seconds(row.simulated)});
  }
  std::printf("%s tensors of %s, %s on %u ranks, %s\n\n%s", with_commas(task.tensors).c_str(),
              size_text(task.tensor).c_str(), std::string(task.algorithm->name).c_str(),
              task.problem.ranks, options.model.describe().c_str(), table.text().c_str());
  std::printf("\nThe bytes are the same in every line; the latency is paid once per call.\n");
  if (found.half && found.tenth) {
    std::printf(
        "A call of %s bytes spends half of its time in latency: fusing smaller ones gains more "
        "than 2x.\nFrom %s bytes on latency is less than a tenth: larger buckets gain little, and "
        "overlap less.\n",
        with_commas(*found.half).c_str(), with_commas(*found.tenth).c_str());
  } else {
    std::printf("Without latency fusing gains nothing.\n");
  }
  std::printf("Simulated on %s: %s.\n--measure runs it on this host.\n",
              options.topo.empty() ? "a switch with links of this bandwidth" : task.network.c_str(),
              rules_text(simulation_of(task), found.routes).c_str());
}

void print_json(const FusionTask& task, const Fusion& found) {
  Json document{{"algorithm", task.algorithm->name},
                {"ranks", task.problem.ranks},
                {"tensors", task.tensors},
                {"tensor", task.tensor},
                {"rules", rules_json(simulation_of(task), found.routes)}};
  document["half_latency"] = found.half ? Json(*found.half) : Json();
  document["tenth_latency"] = found.tenth ? Json(*found.tenth) : Json();
  document["buckets"] = Json::array();
  for (const FusionRow& row : found.rows) {
    document["buckets"].push_back({{"bucket", row.bucket},
                                   {"calls", row.calls},
                                   {"call", row.call},
                                   {"seconds", row.seconds},
                                   {"latency_share", row.latency},
                                   {"simulated", row.simulated}});
  }
  std::puts(json_text(document, 2).c_str());
}

FusionMeasurement measurement_of(const Options& options) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  FusionMeasurement request{.ranks = std::max(options.problem.ranks, 2U),
                            .tensors = options.tensors,
                            .tensor = parse_bytes(options.tensor) / 4 * 4,
                            .buckets = bucket_sizes(options),
                            .algorithm = {},
                            .transport = options.transport,
                            .json = options.json};
  if (!options.words.empty()) request.algorithm = algorithm_named(options.words).name;
  if (request.tensor == 0) reject("--measure needs tensors of 4 bytes or more");
  if (request.tensors * request.tensor > most_bytes) {
    reject("--measure uses at most 1GiB per rank; ask for fewer --tensors");
  }
  return request;
}

}  // namespace

void add_buckets(Command tutti, std::vector<std::string> words) {
  const Command command = tutti.command(
      "buckets", "show when fusing tensors into buckets pays, by formula, simulation, measurement");
  auto options = std::make_shared<Options>();
  command.option("algorithm", options->words, "an allreduce (default: allreduce/ring)")
      .text("ALGORITHM");
  options->problem.add(command);
  command.option("--tensors", options->tensors, "how many there are")
      .text("N (1000)")
      .between(std::uint64_t{1}, std::uint64_t{1} << 32);
  command.option("--tensor", options->tensor, "bytes of each").text("SIZE (1MB)");
  command.option("--bucket", options->buckets, "sizes of buckets to compare")
      .text("SIZE,... (2MB,5MB,10MB,25MB,100MB)")
      .delimiter(',');
  options->model.add(command);
  command.option("--topo", options->topo, "the network to simulate on (default: one switch)");
  command.flag("--measure", options->measure,
               "measure on this host: single calls against a tutti::Bucketer");
  command.option("--transport", options->transport, "of the ranks to measure")
      .among({"shm", "tcp"});
  command.json(options->json, "as JSON");
  command.footer(
      "tutti buckets -p 16 --tensors 1000 --tensor 1MB --alpha 10us --bandwidth 100GB/s\n"
      "tutti buckets --measure -n 2 --tensors 200 --tensor 4KiB --bucket 64KiB,1MiB\n\n"
      "The bucketer of the library is described in docs/buckets.md.");
  command.action([options, words = std::move(words)] {
    if (options->measure) return measure_fusion(measurement_of(*options), words);
    const FusionTask task = task_of(*options);
    const Fusion found = fuse(task);
    options->json ? print_json(task, found) : print(*options, task, found);
    return success;
  });
}

}  // namespace tutti::cli
