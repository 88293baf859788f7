#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/network/network_json.hpp>
#include <tutti/schedule/schedule_json.hpp>
#include <tutti/schedule/verify.hpp>
#include <tutti/sim/simulation.hpp>
#include <tutti/synthesis/synthesis.hpp>

#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/text.hpp"
#include "cli/console/text_file.hpp"
#include "cli/simulation/fastest_entry.hpp"
#include "cli/simulation/known_optimum.hpp"
#include "cli/simulation/rules.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::string collective;
  std::string topo;
  std::uint32_t root = 0;
  std::string method = "automatic";
  std::string size = "1GiB";
  std::uint32_t chunks = 0;
  double seconds = 60;
  std::uint64_t seed = 1;
  std::string out;
  std::string network_out;
  bool json = false;
  bool no_sim = false;
};

/// A synthesized schedule with all that was found out about it.
struct Result {
  Synthesis made{};
  RoutePolicy routes = RoutePolicy::automatic;  ///< Of the simulations.
  Network network{};                            ///< With the routes of the schedule.
  std::uint64_t size = 0;
  double search_seconds = 0;
  std::uint64_t made_messages = 0;
  std::uint64_t messages = 0;
  double made_seconds = 0;  ///< Of the synthesized schedule: simulated, or else predicted.
  double seconds = 0;       ///< Of the result.
  bool simulated = false;
  /// For an allreduce: the share of the bound that no allreduce can exceed, if it is known.
  std::optional<double> part_of_bound{};
  /// The fastest algorithm of the table on the same network, if it was simulated.
  std::optional<FastestEntry> of_table{};
  /// The schedule of that algorithm, if it is faster than the synthesized one: it is the result.
  std::optional<Schedule> faster{};

  /// By more than rounding.
  [[nodiscard]] bool table_is_faster() const {
    return of_table && of_table->seconds < made_seconds * (1 - 1e-9);
  }
  [[nodiscard]] double part() const { return made.best_seconds / seconds; }
  [[nodiscard]] const Schedule& schedule() const { return faster ? *faster : made.schedule; }
};

Synthesis search(const Network& network, const Options& options) {
  Progress progress("synthesizing");
  return synthesize(network, parse_collective(options.collective),
                    {.root = options.root,
                     .method = parse_synthesis_method(options.method),
                     .bytes = parse_bytes(options.size),
                     .chunks = options.chunks,
                     .seconds = options.seconds,
                     .seed = options.seed,
                     .progress = [&](double share) {
                       progress.set(share);
                       return true;
                     }});
}

/// Verifies a schedule and returns the number of its messages.
std::uint64_t proved_messages(const Schedule& schedule) {
  const Verification verdict = verify(schedule);
  if (verdict.ok()) return verdict.messages;
  throw Error(ErrorCode::internal, "the schedule is wrong, which is a bug in tutti: " +
                                       verdict.violations.front().message);
}

// Any number of messages at once: only links set limits.
const SimulationSettings only_links{.ports = 0};

double simulated(const Result& result) {
  const Schedule& schedule = result.made.schedule;
  Routes routes(result.network);
  std::unique_ptr<Progress> shown;
  std::uint64_t told = 0;
  const auto progress = [&](std::uint64_t arrived, std::uint64_t messages) {
    if (!shown) shown = std::make_unique<Progress>("simulating", messages);
    shown->advance(arrived - told);
    told = arrived;
  };
  return simulate(result.network, routes, source_of(schedule),
                  even_layout(schedule.contract, result.size), only_links, progress)
      .seconds;
}

/// Algorithms of more than some 300,000 messages are left out: that is as much as a second for
/// each.
std::optional<FastestEntry> fastest_of_table(const Network& network, const Options& options) {
  SimulationSettings settings = only_links;
  settings.memory = std::uint64_t{1} << 26;
  return fastest_entry(network, parse_collective(options.collective), options.root,
                       parse_bytes(options.size), settings);
}

/// A schedule of the table that is faster replaces the synthesized one, unless a method was named.
/// It takes the routes of the network.
void prefer_faster(const Network& network, const Options& options, Result& result) {
  if (!result.table_is_faster()) return;
  if (parse_synthesis_method(options.method) != SynthesisMethod::automatic) return;
  const SimEntry& entry = result.of_table->entry;
  result.faster = built_schedule(*entry.algorithm, entry.problem);
  result.faster->name = entry.name();
  result.messages = proved_messages(*result.faster);
  result.network = network;
  result.seconds = result.of_table->seconds;
}

Result synthesized(const Options& options) {
  const Network network = load_network(options.topo);
  Result result{
      .routes = Routes(network).policy(), .network = network, .size = parse_bytes(options.size)};
  const auto begin = std::chrono::steady_clock::now();
  result.made = search(network, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  result.search_seconds = took.count();
  result.messages = result.made_messages = proved_messages(result.made.schedule);
  if (!options.no_sim) result.of_table = fastest_of_table(network, options);
  result.network.own_routes.insert(result.network.own_routes.begin(), result.made.routes.begin(),
                                   result.made.routes.end());
  result.simulated = !options.no_sim;
  result.seconds = result.made_seconds =
      options.no_sim ? result.made.predicted_seconds : simulated(result);
  prefer_faster(network, options, result);
  if (result.made.schedule.contract.collective == Collective::allreduce) {
    if (const auto known = known_optimum(result.network).optimum) {
      result.part_of_bound =
          static_cast<double>(result.size) / result.seconds / known->allreduce.value();
    }
  }
  return result;
}

std::string how(const Synthesis& made) {
  if (made.direct) return "every rank sends to all others at once";
  if (made.trees > 0) return in_plural(made.trees, "tree") + " out of each root";
  return "found by the " + std::string(name(made.method)) + " search";
}

/// "100.0 % of the best possible, which is 42.3 ms"
std::string compared(const Result& result, double seconds) {
  const bool composed = result.schedule().contract.collective == Collective::allreduce;
  std::array<char, 32> part{};
  std::snprintf(part.data(), part.size(), "%.1f %%", 100 * result.made.best_seconds / seconds);
  return part.data() + std::string(" of the best possible") +
         (composed ? " reduce_scatter then allgather" : "") + ", which is " +
         format_seconds(result.made.best_seconds);
}

void print_text(const Result& result) {
  const Schedule& made = result.made.schedule;
  std::printf("%s: %s, %s\n", made.name.c_str(), in_plural(made.contract.ranks, "rank").c_str(),
              how(result.made).c_str());
  std::printf(
      "%s, %s, %s; found in %s and proved\n", in_plural(made.contract.chunks, "chunk").c_str(),
      in_plural(made.rounds(), "round").c_str(), in_plural(result.made_messages, "message").c_str(),
      format_seconds(result.search_seconds).c_str());
  std::printf("%s: %s %s, %s\n", format_bytes(result.size).c_str(),
              format_seconds(result.made_seconds).c_str(),
              result.simulated ? "simulated" : "predicted",
              compared(result, result.made_seconds).c_str());
  if (result.simulated) std::printf("%s\n", rules_text(only_links, result.routes).c_str());
  if (result.of_table) {
    const std::size_t refused = result.of_table->refused;
    const std::string without =
        refused == 0 ? ""
                     : ", without " + std::to_string(refused) + " that are too large to simulate";
    std::printf("the fastest algorithm of the table, %s, takes %s%s\n",
                result.of_table->entry.name().c_str(),
                format_seconds(result.of_table->seconds).c_str(), without.c_str());
  }
  if (result.faster) {
    std::printf("so the result is %s: %s\n", result.faster->name.c_str(),
                compared(result, result.seconds).c_str());
  }
  if (result.part_of_bound) {
    std::printf("%.1f %% of the bound that no allreduce can exceed\n", 100 * *result.part_of_bound);
  }
  if (!result.made.routes.empty() && !result.faster) {
    std::printf(
        "its messages need routes of their own: --network-output writes the network with them\n");
  }
}

/// What is known about the synthesized schedule alone.
Json made_json(const Result& result) {
  return {{"method", std::string(name(result.made.method))},
          {"trees", result.made.trees},
          {"direct", result.made.direct},
          {"own_routes", result.made.routes.size()},
          {"predicted_seconds", result.made.predicted_seconds},
          {"synthesized_seconds", result.made_seconds}};
}

void print_json(const Result& result) {
  const Schedule& schedule = result.schedule();
  Json whole{{"schedule", schedule.name},
             {"network", result.network.name},
             {"collective", std::string(name(schedule.contract.collective))},
             {"ranks", schedule.contract.ranks},
             {"size", result.size},
             {"from_table", result.faster.has_value()},
             {"chunks", schedule.contract.chunks},
             {"rounds", schedule.rounds()},
             {"messages", result.messages},
             {"search_seconds", result.search_seconds},
             {"simulated", result.simulated},
             {"seconds", result.seconds},
             {"best_seconds", result.made.best_seconds},
             {"part_of_best", result.part()}};
  if (result.faster) {
    whole["method"] = "table";
    whole["own_routes"] = 0;
    whole["replaced"] = made_json(result);
  } else {
    whole.update(made_json(result));
  }
  if (result.simulated) whole["rules"] = rules_json(only_links, result.routes);
  if (result.part_of_bound) whole["part_of_bound"] = *result.part_of_bound;
  if (result.of_table) {
    whole["of_table"] = Json{{"algorithm", result.of_table->entry.name()},
                             {"seconds", result.of_table->seconds},
                             {"refused", result.of_table->refused}};
  }
  std::printf("%s\n", json_text(whole, 1).c_str());
}

/// On stderr, since the schedule itself may go to standard output.
void warn_if_slower(const Result& result) {
  if (!result.simulated) {
    std::fputs(
        "tutti: not simulated, so not compared with the algorithms of the table: one may be "
        "faster. "
        "Leave out --no-sim to find out.\n",
        stderr);
    return;
  }
  if (!result.table_is_faster() || result.faster) return;
  constexpr double noteworthy = 1.005;
  const double ratio = result.made_seconds / result.of_table->seconds;
  if (ratio < noteworthy) return;
  std::fprintf(stderr,
               "tutti: %s of the table is %.3g times as fast as this schedule; --method automatic "
               "takes it.\n",
               result.of_table->entry.name().c_str(), ratio);
}

void run(const Options& options) {
  const Result result = synthesized(options);
  warn_if_slower(result);
  if (!options.out.empty()) write_text(options.out, to_json(result.schedule()));
  if (!options.network_out.empty()) write_text(options.network_out, to_json(result.network));
  if (options.out == "-" || options.network_out == "-") return;
  options.json ? print_json(result) : print_text(result);
}

}  // namespace

void add_synth(Command tutti) {
  const Command command =
      tutti.command("synth", "make a schedule for a network, prove it and simulate it");
  auto options = std::make_shared<Options>();
  command
      .option("collective", options->collective,
              "broadcast, reduce, allgather, reduce_scatter or allreduce")
      .required();
  command.option("--topo", options->topo, "the network: torus:8x8, fat_tree:k=4, or a file")
      .required();
  command.option("--root", options->root, "the root of a broadcast or reduce").shows_default();
  command
      .option("--method", options->method,
              "packing: trees at the best rate; greedy: link by link; automatic: the faster; "
              "exhaustive: the fewest rounds on a tiny network")
      .shows_default();
  command.option("--size", options->size, "bytes of a rank's larger buffer").shows_default();
  command.option("--chunks", options->chunks, "chunks per block; 0: as many as pay")
      .shows_default();
  command.option("--time", options->seconds, "seconds to search").shows_default().positive();
  command.option("--seed", options->seed, "seed of the greedy").shows_default();
  command.option("-o,--output", options->out, "write the schedule as JSON; - is standard output");
  command.option("--network-output", options->network_out,
                 "write the network with the routes used");
  command.flag("--no-sim", options->no_sim,
               "do not simulate, which takes long if hundreds of ranks send to each other");
  command.json(options->json, "print the figures as JSON");
  command.action([options] {
    run(*options);
    return success;
  });
}

}  // namespace tutti::cli
