#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/network/optimum.hpp>
#include <tutti/schedule/schedule_hash.hpp>

#include "cli/choice/party.hpp"
#include "cli/commands.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/text.hpp"
#include "core/json.hpp"
#include "core/quantity.hpp"
#include "select/forecast_cache.hpp"
#include "select/selector.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::string collective;
  std::uint32_t ranks = 0;
  std::uint32_t cores = 0;
  std::uint32_t ranks_per_host = 0;
  std::uint32_t root = 0;
  std::string size = "1MiB";
  std::string pairs = "host";
  std::string topo;
  std::string gamma;
  bool json = false;
};

/// What the model's time consists of.
struct Parts {
  double waiting = 0;  ///< Calls, rounds and messages.
  double moving = 0;   ///< Bytes moved,
  double adding = 0;   ///< and added.
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

/// What the first saves most on, against the second.
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
  if (saved <= 0) return ", by what was measured and not by what it does less";
  return ", since it saves most " + std::string(words) + " (" + format_seconds(saved) +
         " by the model)";
}

std::size_t direct_from(const ReachProfile& reach, const Options& options) {
  return reach.direct_from[static_cast<std::size_t>(parse_collective(options.collective))];
}

Party party_on_network(const Options& options) {
  auto network = std::make_shared<const Network>(load_network(options.topo));
  const std::uint32_t ranks = network->rank_count();
  if (options.ranks != 0 && options.ranks != ranks) {
    throw Error(ErrorCode::invalid_argument, network->name + " has " + std::to_string(ranks) +
                                                 " ranks; leave out -n, or make it so");
  }
  return {.ranks = ranks,
          .cores = ranks,
          .reach = {.pairs = Pairs::network},
          .hosts = natural_shape(*network),
          .network = std::move(network),
          .gamma = options.gamma.empty() ? std::nullopt
                                         : std::optional(parse_seconds_per_byte(options.gamma))};
}

/// The seconds that no schedule on the network can do with less of; none where that is not known.
std::optional<double> least_seconds(const Party& party, Collective collective,
                                    std::uint64_t bytes) {
  if (!party.network) return std::nullopt;
  const auto n = static_cast<double>(bytes);
  switch (collective) {
    case Collective::allgather:
      return n / optimum(*party.network).allgather.value();
    case Collective::reduce_scatter:
      return n / optimum(*party.network).reduce_scatter.value();
    case Collective::allreduce:
      return n / optimum(*party.network).allreduce.value();
    default:
      return std::nullopt;
  }
}

Party party_from(const Options& options) {
  if (!options.topo.empty()) return party_on_network(options);
  if (options.ranks == 0) {
    throw Error(ErrorCode::invalid_argument, "how many ranks? Add -n, such as -n 4.");
  }
  const Pairs pairs = parse_pairs(options.pairs);
  Party party = local_party(options.ranks, pairs);
  if (options.cores > 0) {
    party.cores = options.cores;
    party.reach.crowded = options.ranks > options.cores;
  }
  if (options.ranks_per_host > 0) {
    if (options.ranks % options.ranks_per_host != 0) {
      throw Error(ErrorCode::invalid_argument, std::to_string(options.ranks) +
                                                   " ranks do not fill hosts of " +
                                                   std::to_string(options.ranks_per_host));
    }
    const std::uint32_t hosts = options.ranks / options.ranks_per_host;
    party.hosts.dimensions = {options.ranks_per_host, hosts};
    if (hosts > 1) {
      party.reach.pairs = Pairs::network;
      party.reach.crowded = options.ranks_per_host > party.cores;
      party.cores *= hosts;
    }
  }
  return party;
}

void print(const Options& options, const Selector& selector, const FoundProfile& found,
           const std::vector<Candidate>& ways, std::uint64_t bytes) {
  using Align = TextTable::Align;
  const Party& party = selector.forecast().party();
  std::printf("%s of %s, %u ranks on %u cores (%s)\nby %s\n\n", options.collective.c_str(),
              format_bytes(bytes).c_str(), party.ranks, party.cores, words(party.reach).c_str(),
              found.origin.c_str());
  TextTable table({{"algorithm", Align::left},
                   {"expected", Align::right},
                   {"", Align::right},
                   {"by the model", Align::right},
                   {"messages", Align::right},
                   {"bytes", Align::right},
                   {"adding", Align::right},
                   {"of optimum", Align::right},
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
                              : party.network          ? "simulation"
                                                       : "the model";
    const bool mixed = party.is_mixed() || party.network;
    table.add({std::string(each.method.name()), format_seconds(each.expected.seconds), ratio.data(),
               format_seconds(each.expected.modelled), mixed ? "" : format_seconds(parts.waiting),
               mixed ? "" : format_seconds(parts.moving), mixed ? "" : format_seconds(parts.adding),
               least ? in_percent(*least / each.expected.seconds) : "", known});
  }
  std::fputs(table.text().c_str(), stdout);
  const ReachProfile& reach = selector.forecast().reach_profile();
  std::printf("\n%s", std::string(ways.front().method.label()).c_str());
  if (!ways.front().barred.empty()) {
    std::printf(" may not be taken: the rules leave nothing\n");
    return;
  }
  if (ways.size() > 1 && ways[1].barred.empty()) {
    std::printf(" is expected to take %s less time than %s%s",
                in_percent(1 - best / ways[1].expected.seconds).c_str(),
                std::string(ways[1].method.label()).c_str(),
                reason(selector.forecast(), ways[0], ways[1], bytes).c_str());
  } else {
    std::printf(" is the only one that may be taken");
  }
  if (party.network) {
    std::printf(".\n");
    return;
  }
  std::printf(".\nData goes in slices of %s", format_bytes(reach.slice_bytes).c_str());
  if (in_memory(party.reach)) {
    std::printf(
        "; messages up to 48 bytes travel with their flag, those from %s on are read where "
        "they stand",
        format_bytes(direct_from(reach, options)).c_str());
  }
  std::printf(".\n");
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
  document["slice_bytes"] = reach.slice_bytes;
  document["direct_from"] =
      reach.direct_from[static_cast<std::size_t>(ways.front().method.collective())];
  document["candidates"] = Json::array();
  for (const Candidate& each : ways) {
    document["candidates"].push_back({{"algorithm", each.method.name()},
                                      {"schedule", schedule_of(each.method)},
                                      {"shape", to_string(each.shape)},
                                      {"seconds", each.expected.seconds},
                                      {"modelled_seconds", each.expected.modelled},
                                      {"measured", each.expected.measured},
                                      {"given_up", each.expected.given_up},
                                      {"barred_by", each.barred}});
  }
  std::puts(document.dump(2).c_str());
}

void run(const Options& options) {
  const std::uint64_t bytes = parse_bytes(options.size);
  FoundProfile found = find_profile();
  const auto profile = std::make_shared<const Profile>(found.profile);
  const Selector selector(ForecastCache(profile).get(party_from(options)),
                          rules_from_environment());
  const std::vector<Candidate> ways =
      selector.candidates({.collective = parse_collective(options.collective),
                           .bytes = bytes,
                           .root = Rank{options.root}});
  if (options.json) {
    print_json(found, selector, ways, bytes);
  } else {
    print(options, selector, found, ways, bytes);
  }
}

}  // namespace

void add_choose(Command tutti) {
  const Command command = tutti.command("choose", "which algorithm tutti would take, and why");
  auto options = std::make_shared<Options>();
  command.option("collective", options->collective, "such as allreduce").required();
  command.option("-n,--ranks", options->ranks, "number of ranks").text("N").between(1U, 1U << 20U);
  command.option("--size", options->size, "bytes of a rank's larger buffer").shows_default();
  command.option("-r,--root", options->root, "the root, where there is one").text("RANK (0)");
  command
      .option("--pairs", options->pairs,
              "how ranks reach each other: process host loopback network")
      .shows_default();
  command.option("--cores", options->cores, "of a host (default: of this one)").text("N");
  command.option("--ranks-per-host", options->ranks_per_host, "if there are several hosts")
      .text("N");
  command
      .option("--topo", options->topo,
              "on this network, by simulation: a spec such as torus:4x4, or a file")
      .text("NETWORK");
  command
      .option("--gamma", options->gamma, "there, for a byte added: 0, 200GB/s (default: as here)")
      .text("RATE");
  command.flag("--json", options->json, "as JSON");
  command.footer(
      "tutti choose allreduce -n 4 --size 1MiB\n\n"
      "Heeds TUTTI_PROFILE, TUTTI_ALGO and TUTTI_RULES as the library does: docs/choosing.md.");
  command.action([options] {
    run(*options);
    return success;
  });
}

}  // namespace tutti::cli
