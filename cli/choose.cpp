#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/network/optimum.hpp>
#include <tutti/schedule/schedule_hash.hpp>

#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/text.hpp"
#include "cli/measure/party.hpp"
#include "cli/simulation/known_optimum.hpp"
#include "cli/simulation/places.hpp"
#include "cli/simulation/rules.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "select/forecast_cache.hpp"
#include "select/natural_shapes.hpp"
#include "select/selector.hpp"

namespace tutti::cli {
namespace {

/// The call and its ranks, as the command line asks for them.
struct Request {
  Collective collective = Collective::allreduce;
  std::uint32_t ranks = 0;           ///< 0: as many as the network has.
  std::uint32_t cores = 0;           ///< 0: those of this host.
  std::uint32_t ranks_per_host = 0;  ///< 0: one host.
  std::uint32_t root = 0;
  std::uint64_t bytes = 0;
  Pairs pairs = Pairs::host;
  std::string topo;  ///< A spec or a file; empty: no network.
  std::string place = "order";
  std::optional<double> gamma{};  ///< On a network; none: as in the profile.
  bool json = false;
};

/// The words of the command line that are parsed here.
struct Options {
  Request parsed{};
  std::string collective;
  std::string size = "1MiB";
  std::string transport = "shm";
  std::string gamma = "0";
};

Request parse(const Options& options) {
  Request request = options.parsed;
  request.collective = parse_collective(options.collective);
  request.bytes = parse_bytes(options.size);
  request.pairs = parse_transport(options.transport);
  if (options.gamma != "profile") request.gamma = parse_seconds_per_byte(options.gamma);
  return request;
}

/// The parts of the model's time.
struct Parts {
  double waiting = 0;  ///< Calls, rounds and messages.
  double moving = 0;   ///< Bytes moved.
  double adding = 0;   ///< Bytes added.
};

Problem problem_of(const Party& party, const Candidate& candidate) {
  const ProvedSchedule* const schedule = candidate.method.schedule();
  return {.ranks = party.ranks,
          .root = schedule == nullptr ? Rank{0} : schedule->contract().root,
          .shape = candidate.shape};
}

Parts parts_of(const Forecast& forecast, const Candidate& candidate, std::uint64_t bytes) {
  const Party& party = forecast.party();
  const Effort needed = effort(candidate.method, problem_of(party, candidate), bytes, party.cores);
  const auto price = [&](Effort::Kind kind) {
    Effort only;
    only.counts[kind] = needed.counts[kind];
    return forecast.reach_profile().model_for(candidate.method.collective()).seconds(only, bytes);
  };
  return {.waiting = price(Effort::calls) + price(Effort::rounds) + price(Effort::messages) +
                     price(Effort::core_messages),
          .moving = price(Effort::bytes) + price(Effort::busiest_bytes) + price(Effort::core_bytes),
          .adding = price(Effort::busiest_reduced) + price(Effort::core_reduced)};
}

std::string in_percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
  return text.data();
}

/// The part on which the first saves most, compared with the second.
std::string reason(const Forecast& forecast, const Candidate& first, const Candidate& second,
                   std::uint64_t bytes) {
  if (forecast.party().is_mixed() || forecast.party().network) return "";
  const Parts a = parts_of(forecast, first, bytes);
  const Parts b = parts_of(forecast, second, bytes);
  const std::array<std::pair<double, const char*>, 3> savings{
      {{b.waiting - a.waiting, "on rounds and messages"},
       {b.moving - a.moving, "on bytes moved"},
       {b.adding - a.adding, "on bytes added"}}};
  const auto& [saved, words] = *std::max_element(savings.begin(), savings.end());
  if (saved <= 0) return ", by measurements, not by the model";
  return ", since it saves most " + std::string(words) + " (" + format_seconds(saved) +
         " by the model)";
}

/// "allreduce/ring_ring 8x2"
std::string label_of(const Candidate& candidate) {
  const std::string shape = candidate.method.needs_shape() ? " " + to_string(candidate.shape) : "";
  return std::string(candidate.method.label()) + shape;
}

std::size_t direct_from(const ReachProfile& reach, Collective collective) {
  return reach.thresholds.direct_from[static_cast<std::size_t>(collective)];
}

Party party_on_network(const Request& request) {
  auto network = std::make_shared<const Network>(load_network(request.topo));
  const std::uint32_t ranks = network->rank_count();
  std::vector<Rank> places = parse_places(request.place, ranks, *network);
  const std::vector<Shape> shapes = natural_shapes(*network, places);
  if (request.ranks != 0 && request.ranks != ranks) {
    throw Error(ErrorCode::invalid_argument, network->name + " has " + std::to_string(ranks) +
                                                 " ranks; leave out -n, or give that number");
  }
  return {.ranks = ranks,
          .cores = ranks,
          .reach = {.pairs = Pairs::network},
          .hosts = shapes.empty() ? Shape{} : shapes.front(),
          .shapes = shapes,
          .network = std::move(network),
          .places = std::move(places),
          .gamma = request.gamma};
}

/// A lower bound of the seconds of any schedule on the network; none if not known.
std::optional<double> least_seconds(const Party& party, Collective collective,
                                    std::uint64_t bytes) {
  if (!party.network) return std::nullopt;
  const std::optional<Optimum> best = known_optimum(*party.network).optimum;
  if (!best) return std::nullopt;
  const auto n = static_cast<double>(bytes);
  switch (collective) {
    case Collective::allgather:
      return n / best->allgather.value();
    case Collective::reduce_scatter:
      return n / best->reduce_scatter.value();
    case Collective::allreduce:
      return n / best->allreduce.value();
    default:
      return std::nullopt;
  }
}

Party party_from(const Request& request) {
  if (!request.topo.empty()) return party_on_network(request);
  if (request.ranks == 0) {
    throw Error(ErrorCode::invalid_argument, "how many ranks? Add -n, such as -n 4.");
  }
  Party party = measure::local_party(request.ranks, request.pairs);
  if (request.cores > 0) {
    party.cores = request.cores;
    party.reach.crowded = request.ranks > request.cores;
  }
  if (request.ranks_per_host > 0) {
    if (request.ranks % request.ranks_per_host != 0) {
      throw Error(ErrorCode::invalid_argument, std::to_string(request.ranks) +
                                                   " ranks do not fill hosts of " +
                                                   std::to_string(request.ranks_per_host));
    }
    const std::uint32_t hosts = request.ranks / request.ranks_per_host;
    party.hosts.dimensions = {request.ranks_per_host, hosts};
    if (hosts > 1) {
      party.reach.pairs = Pairs::network;
      party.reach.crowded = request.ranks_per_host > party.cores;
      party.cores *= hosts;
    }
  }
  return party;
}

/// The rules by which a choice for a network is simulated.
SimulationSettings assumed(const Forecast& forecast) {
  return {.gamma = forecast.party().gamma.value_or(forecast.reach_profile().gamma), .ports = 0};
}

void print_heading(const Request& request, const Forecast& forecast, const FoundProfile& found) {
  const Party& party = forecast.party();
  const std::string call =
      std::string(name(request.collective)) + " of " + format_bytes(request.bytes);
  if (!party.network) {
    std::printf("%s, %u ranks on %u cores (%s)\nby %s\n\n", call.c_str(), party.ranks, party.cores,
                words(party.reach).c_str(), found.origin.c_str());
    return;
  }
  const SimulationSettings settings = assumed(forecast);
  std::printf("%s on %s, %u ranks\n%s%s\n\n", call.c_str(), party.network->name.c_str(),
              party.ranks, rules_text(settings, Routes(*party.network).policy()).c_str(),
              request.gamma ? "" : (", by " + found.origin).c_str());
}

TextTable table_of(const Selector& selector, const std::vector<Candidate>& ways,
                   std::uint64_t bytes) {
  using Align = TextTable::Align;
  const Party& party = selector.forecast().party();
  TextTable table({{"algorithm", Align::left},
                   {"expected", Align::right},
                   {"", Align::right},
                   {"by the model", Align::right},
                   {"messages", Align::right},
                   {"bytes", Align::right},
                   {"adding", Align::right},
                   {"of bound", Align::right},
                   {"known by", Align::left}});
  const double best = ways.front().expected.seconds;
  const std::optional<double> least = least_seconds(party, ways.front().method.collective(), bytes);
  for (const Candidate& each : ways) {
    const Parts parts = parts_of(selector.forecast(), each, bytes);
    std::array<char, 32> ratio{};
    std::snprintf(ratio.data(), ratio.size(), "%.2fx", each.expected.seconds / best);
    const std::string known = !each.barred.empty()     ? "barred by " + each.barred
                              : each.expected.given_up ? "being far behind with less data"
                              : each.expected.measured ? "measurements"
                              : each.expected.untried  ? "the model, not in the profile"
                              : party.network          ? "simulation"
                                                       : "the model";
    const bool mixed = party.is_mixed() || party.network;
    table.add({label_of(each), format_seconds(each.expected.seconds), ratio.data(),
               format_seconds(each.expected.modelled), mixed ? "" : format_seconds(parts.waiting),
               mixed ? "" : format_seconds(parts.moving), mixed ? "" : format_seconds(parts.adding),
               least ? in_percent(*least / each.expected.seconds) : "", known});
  }
  return table;
}

/// How the data of the call travels.
void print_slices(const Request& request, const Forecast& forecast) {
  const ReachProfile& reach = forecast.reach_profile();
  if (forecast.party().network) {
    std::printf(
        ".\nSimulated in slices of %s, as data is sent, or longer ones if there were too many.\n",
        format_bytes(reach.thresholds.slice_bytes).c_str());
    return;
  }
  std::printf(".\nData goes in slices of %s", format_bytes(reach.thresholds.slice_bytes).c_str());
  if (in_memory(forecast.party().reach)) {
    std::printf(
        "; messages up to 48 bytes travel with their flag, those from %s on are read in "
        "place",
        format_bytes(direct_from(reach, request.collective)).c_str());
    const std::size_t single_copy =
        reach.thresholds.single_copy_from[static_cast<std::size_t>(request.collective)];
    if (single_copy != Thresholds::never) {
      std::printf(
          "; outside of shared memory, those from %s on are copied once, by the kernel, where that "
          "is permitted",
          format_bytes(single_copy).c_str());
    }
  }
  std::printf(".\n");
}

void print(const Request& request, const Selector& selector, const FoundProfile& found,
           const std::vector<Candidate>& ways) {
  print_heading(request, selector.forecast(), found);
  std::fputs(table_of(selector, ways, request.bytes).text().c_str(), stdout);
  std::printf("\n%s", label_of(ways.front()).c_str());
  if (!ways.front().barred.empty()) {
    std::printf(" is not allowed: the rules allow no algorithm\n");
    return;
  }
  if (ways.size() > 1 && ways[1].barred.empty()) {
    constexpr double noteworthy = 0.005;
    const double saved = 1 - ways[0].expected.seconds / ways[1].expected.seconds;
    const std::string difference =
        saved < noteworthy ? "about as long as" : in_percent(saved) + " less time than";
    std::printf(" is expected to take %s %s%s", difference.c_str(), label_of(ways[1]).c_str(),
                reason(selector.forecast(), ways[0], ways[1], request.bytes).c_str());
  } else {
    std::printf(" is the only one that is allowed");
  }
  print_slices(request, selector.forecast());
}

/// The content hash of a schedule; null for an algorithm.
Json schedule_of(const Method& method) {
  if (method.schedule() == nullptr) return nullptr;
  return hash_text(method.identity());
}

void print_json(const FoundProfile& found, const Selector& selector,
                const std::vector<Candidate>& ways, std::uint64_t bytes) {
  const Party& party = selector.forecast().party();
  const ReachProfile& reach = selector.forecast().reach_profile();
  Json document;
  document["bytes"] = bytes;
  document["ranks"] = party.ranks;
  document["cores"] = party.cores;
  document["pairs"] = name(party.reach.pairs);
  document["crowded"] = party.reach.crowded;
  document["profile"] = found.origin;
  if (party.network) {
    document["rules"] = rules_json(assumed(selector.forecast()), Routes(*party.network).policy());
  }
  document["slice_bytes"] = reach.thresholds.slice_bytes;
  document["direct_from"] =
      reach.thresholds.direct_from[static_cast<std::size_t>(ways.front().method.collective())];
  document["candidates"] = Json::array();
  for (const Candidate& each : ways) {
    document["candidates"].push_back({{"algorithm", each.method.name()},
                                      {"schedule", schedule_of(each.method)},
                                      {"shape", to_string(each.shape)},
                                      {"seconds", each.expected.seconds},
                                      {"modelled_seconds", each.expected.modelled},
                                      {"measured", each.expected.measured},
                                      {"given_up", each.expected.given_up},
                                      {"untried", each.expected.untried},
                                      {"barred_by", each.barred}});
  }
  std::puts(json_text(document, 2).c_str());
}

void run(const Request& request) {
  FoundProfile found = find_profile();
  const auto profile = std::make_shared<const Profile>(found.profile);
  const Selector selector(ForecastCache(profile).get(party_from(request)),
                          rules_from_environment());
  const std::vector<Candidate> ways = selector.candidates(
      {.collective = request.collective, .bytes = request.bytes, .root = request.root});
  if (request.json) {
    print_json(found, selector, ways, request.bytes);
  } else {
    print(request, selector, found, ways);
  }
}

}  // namespace

void add_choose(Command tutti) {
  const Command command = tutti.command("choose", "show which algorithm tutti chooses, and why");
  auto options = std::make_shared<Options>();
  command.option("collective", options->collective, "such as allreduce").required();
  command.option("-n,-p,--ranks", options->parsed.ranks, "number of ranks")
      .text("N")
      .between(1U, 1U << 20U);
  command.option("--size", options->size, "bytes of a rank's larger buffer").shows_default();
  command.option("-r,--root", options->parsed.root, "root of collectives that have one")
      .text("RANK (0)");
  command
      .option("--transport", options->transport,
              "how ranks reach each other: inproc, shm, tcp within a host, or network")
      .shows_default();
  command.option("--cores", options->parsed.cores, "cores of a host (default: of this one)")
      .text("N");
  command.option("--ranks-per-node", options->parsed.ranks_per_host, "for several hosts").text("N");
  command
      .option("--topo", options->parsed.topo,
              "simulate on this network: a spec such as torus:4x4, or a file")
      .text("NETWORK");
  command
      .option("--place", options->parsed.place,
              "where ranks run on it: order, random, random:SEED, 0,4,1 or A,C,B, file:PATH")
      .shows_default();
  command
      .option("--gamma", options->gamma,
              "seconds or rate for a byte added on it: 0, 200GB/s; profile: as a call on this "
              "machine reckons")
      .text("RATE (0)");
  command.json(options->parsed.json, "as JSON");
  command.footer(
      "tutti choose allreduce -n 4 --size 1MiB\n\n"
      "Uses TUTTI_PROFILE, TUTTI_ALGO and TUTTI_RULES as the library does: docs/choosing.md.");
  command.action([options] {
    run(parse(*options));
    return success;
  });
}

}  // namespace tutti::cli
