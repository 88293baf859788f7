#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include <tutti/error.hpp>
#include <tutti/network/generator.hpp>
#include <tutti/network/network_dot.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/network/network_json.hpp>
#include <tutti/network/ring_order.hpp>
#include <tutti/network/stretch.hpp>
#include <tutti/schedule/algorithm.hpp>

#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/text.hpp"
#include "cli/console/text_file.hpp"
#include "cli/simulation/known_optimum.hpp"
#include "cli/underlay/topo_json.hpp"
#include "core/quantity.hpp"
#include "render/network_drawing.hpp"
#include "sim/link_load.hpp"
#include "topology/rank_list.hpp"

namespace tutti::cli {
namespace {

using Align = TextTable::Align;

struct Options {
  std::string network;
  std::string routes = "automatic";
  std::uint64_t seed = 0;
  std::string order;
  std::string algorithm;
  std::string size = "1MiB";
  std::string matrix;
  std::string latencies;
  std::string svg;
  std::string output;
  bool json = false;

  [[nodiscard]] RouteOptions route_options() const {
    return {.policy = parse_route_policy(routes), .seed = seed};
  }
};

// ------------------------------------------------------------------------------------- list

std::string parameter_text(const Parameter& parameter) {
  const std::string name(parameter.name);
  return parameter.otherwise.empty() ? name : name + "=" + std::string(parameter.otherwise);
}

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

void list(const Options& options) {
  if (options.json) return print(generators_json());
  TextTable table({{"network", Align::left}, {"try", Align::left}, {"what it is", Align::left}});
  for (const Generator& each : generators()) {
    table.add({std::string(each.name), std::string(each.example), std::string(each.summary)});
  }
  std::fputs(table.text().c_str(), stdout);
  std::puts("");
  TextTable parameters({{"network", Align::left}, {"parameter", Align::left}, {"", Align::left}});
  for (const Generator& each : generators()) {
    std::string name(each.name);
    for (const Parameter& parameter : each.parameters) {
      parameters.add({name, parameter_text(parameter), std::string(parameter.summary)});
      name.clear();
    }
  }
  std::fputs(parameters.text().c_str(), stdout);
  std::puts("\nOr a file: .json as 'tutti topo json' writes it, .xml as NCCL_TOPO_DUMP_FILE does.");
}

// ------------------------------------------------------------------------------------- show

void show_nodes(const Network& network) {
  std::vector<std::size_t> degree(network.nodes.size());
  for (const Link& link : network.links) ++degree[link.from.index()];
  TextTable table({{"nodes", Align::left}, {"count", Align::right}, {"links out", Align::right}});
  for (const NodeKind kind : {NodeKind::rank, NodeKind::host, NodeKind::nic, NodeKind::switch_}) {
    std::size_t count = 0;
    std::size_t least = network.links.size();
    std::size_t most = 0;
    for (std::size_t i = 0; i < network.nodes.size(); ++i) {
      if (network.nodes[i].kind != kind) continue;
      ++count;
      least = std::min(least, degree[i]);
      most = std::max(most, degree[i]);
    }
    if (count == 0) continue;
    table.add({std::string(name(kind)), with_commas(count),
               least == most ? std::to_string(most)
                             : std::to_string(least) + "-" + std::to_string(most)});
  }
  std::fputs(table.text().c_str(), stdout);
}

void show_links(const Network& network) {
  std::map<std::pair<double, double>, std::size_t> classes;
  for (const Link& link : network.links) ++classes[{link.bytes_per_second, link.latency}];
  TextTable table(
      {{"links", Align::right}, {"bandwidth", Align::right}, {"latency", Align::right}});
  constexpr std::size_t most_rows = 20;
  std::size_t rows = 0;
  for (const auto& [kind, count] : classes) {
    if (rows++ == most_rows) break;
    table.add({with_commas(count), format_rate(kind.first), format_seconds(kind.second)});
  }
  std::fputs(table.text().c_str(), stdout);
  if (classes.size() > most_rows) {
    std::printf("and %zu more classes of links\n", classes.size() - most_rows);
  }
}

Stretch stretch_of_ring(const Network& network, Routes& routes) {
  std::vector<Rank> order;
  for (std::uint32_t r = 0; r < network.rank_count(); ++r) order.emplace_back(r);
  return stretch(routes, ring_hops(order));
}

void show_stretch(const Network& network, Routes& routes) {
  const Stretch found = stretch_of_ring(network, routes);
  std::printf("routes: %s; a ring in the order of ranks takes %.4g links a hop, at worst %u\n",
              std::string(name(routes.policy())).c_str(), found.average, found.worst);
}

void show_optimum(const Network& network) {
  const KnownOptimum known = known_optimum(network);
  if (!known.optimum) {
    std::printf("optimum: %s\n", known.why_not.c_str());
    return;
  }
  const Optimum& best = *known.optimum;
  const auto line = [](const char* what, Fraction rate) {
    std::printf("  %-15s %12s  = %s B/s\n", what, format_rate(rate.value()).c_str(),
                to_string(rate).c_str());
  };
  std::puts(
      "no schedule is faster, with any number of ports (algorithmic bandwidth, for long buffers):");
  line("allgather", best.allgather);
  line("reduce_scatter", best.reduce_scatter);
  line("allreduce", best.allreduce);
  line("  composed", best.composed_allreduce);
  std::printf("  tightest cut: %u of %u ranks inside, %s leaving\n", best.cut.ranks,
              network.rank_count(), format_rate(best.cut.leaving).c_str());
  std::printf("  allreduce: %zu groups of ranks, %s %s; composed: reduce_scatter then allgather\n",
              best.groups.size(), format_rate(best.between).c_str(),
              best.one_way ? "from the first to the second" : "leaving them together");
}

void show(const Options& options) {
  const Network network = load_network(options.network);
  Routes routes(network, options.route_options());
  if (options.json) {
    return print(
        network_report_json(network, stretch_of_ring(network, routes), known_optimum(network)));
  }
  std::printf("%s: %s ranks%s\n\n", network.name.c_str(), with_commas(network.ranks.size()).c_str(),
              network.ranks_forward ? ", which forward" : "");
  show_nodes(network);
  std::puts("");
  show_links(network);
  std::puts("");
  show_stretch(network, routes);
  show_optimum(network);
}

// ---------------------------------------------------------------------------------- stretch

std::vector<Rank> order_of(const Network& network, const std::string& text) {
  if (!text.empty()) return parse_rank_list(text, network, "--order");
  std::vector<Rank> order;
  for (std::uint32_t r = 0; r < network.rank_count(); ++r) order.emplace_back(r);
  return order;
}

void print_stretch(const Network& network, RoutePolicy routes, const Stretch& found) {
  std::printf("stretch by %s routes: %.4g links a hop on average, %u at worst (%s to %s)\n",
              std::string(name(routes)).c_str(), found.average, found.worst,
              network.node_of(found.worst_hop.from).name.c_str(),
              network.node_of(found.worst_hop.to).name.c_str());
}

/// The busiest links first.
void print_busiest(const Network& network, const std::vector<LinkLoad>& loads) {
  std::vector<std::uint32_t> links(loads.size());
  for (std::uint32_t i = 0; i < links.size(); ++i) links[i] = i;
  const auto seconds = [&](std::uint32_t i) {
    return static_cast<double>(loads[i].bytes) / network.links[i].bytes_per_second;
  };
  std::stable_sort(links.begin(), links.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return seconds(a) > seconds(b); });
  TextTable table({{"link", Align::left},
                   {"messages", Align::right},
                   {"bytes", Align::right},
                   {"busy for", Align::right}});
  constexpr std::size_t most_rows = 10;
  std::size_t used = 0;
  for (const std::uint32_t i : links) {
    if (loads[i].messages == 0) continue;
    if (used++ >= most_rows) continue;
    table.add({network.describe(LinkId{i}), with_commas(loads[i].messages),
               with_commas(loads[i].bytes), format_seconds(seconds(i))});
  }
  std::printf("%zu of %zu links are used; the busiest:\n\n%s", used, links.size(),
              table.text().c_str());
}

/// The ring as arcs over the network, with the stretch and the congestion.
std::string overlay_svg(const Network& network, Routes& routes, const std::vector<Rank>& order,
                        const std::vector<Hop>& hops) {
  const Stretch found = stretch(routes, hops);
  const std::vector<std::uint32_t> crossings = hops_per_link(network, routes, hops);
  std::vector<render::OverlayHop> arcs;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    arcs.push_back({.from = hops[i].from, .to = hops[i].to, .links = found.links[i]});
  }
  std::string names;
  for (const Rank rank : order) names += (names.empty() ? "" : "-") + network.node_of(rank).name;
  const std::uint32_t most =
      crossings.empty() ? 0 : *std::max_element(crossings.begin(), crossings.end());
  char text[160];
  std::snprintf(text, sizeof text,
                "Average stretch %.4g: links of the network per hop of the ring. The busiest link "
                "carries %u hop%s.",
                found.average, most, most == 1 ? "" : "s");
  const std::string ring =
      order.size() <= 16 ? "The ring " + names : "A ring of " + std::to_string(order.size());
  return render::draw_overlay(network, arcs, crossings,
                              {.title = ring + " on " + network.name, .lines = {text}});
}

void report(const Options& options, const Network& network, RoutePolicy routes,
            const Stretch& found, const std::vector<LinkLoad>& loads) {
  if (options.json) return print(stretch_json(network, found, loads));
  print_stretch(network, routes, found);
  print_busiest(network, loads);
}

void run_stretch(const Options& options) {
  const Network network = load_network(options.network);
  if (!options.svg.empty()) render::require_drawable(network);
  Routes routes(network, options.route_options());
  if (!options.algorithm.empty()) {
    const Algorithm& algorithm = algorithm_named(options.algorithm);
    ProblemOptions problem;
    problem.ranks = network.rank_count();
    const Schedule schedule = built_schedule(algorithm, problem.problem(algorithm));
    const Layout layout = even_layout(schedule.contract, parse_bytes(options.size));
    report(options, network, routes.policy(), stretch(routes, hops_of(schedule)),
           link_loads(schedule, layout, network, routes));
    return;
  }
  const std::vector<Rank> order = order_of(network, options.order);
  const std::vector<Hop> hops = ring_hops(order);
  const std::uint64_t bytes = parse_bytes(options.size);
  std::vector<LinkLoad> loads;
  for (const std::uint32_t count : hops_per_link(network, routes, hops)) {
    loads.push_back({.messages = count, .bytes = count * bytes});
  }
  report(options, network, routes.policy(), stretch(routes, hops), loads);
  if (!options.svg.empty()) write_text(options.svg, overlay_svg(network, routes, order, hops));
}

// ------------------------------------------------------------------------------------ order

std::string contents(const std::string& path) { return path.empty() ? "" : read_text(path); }

void print_order(const RingOrder& found, const Network* network, const Options& options) {
  if (options.json) return print(order_json(found, network));
  if (network != nullptr) {
    const Routes routes(*network, options.route_options());
    std::printf("%s, messages of %s by %s routes, all at once\n\n", network->name.c_str(),
                format_bytes(parse_bytes(options.size)).c_str(),
                std::string(name(routes.policy())).c_str());
  }
  TextTable table({{"ring", Align::left},
                   {"slowest edge", Align::right},
                   {"busiest link", Align::right},
                   {"sum of edges", Align::right}});
  const auto row = [&](const char* what, const RingCost& cost) {
    table.add({what, format_seconds(cost.slowest),
               network != nullptr ? format_seconds(cost.contention) : "not known",
               format_seconds(cost.sum)});
  };
  row("as given", found.given);
  row(found.exact ? "best of all" : "best found", found.cost);
  std::fputs(table.text().c_str(), stdout);
  std::puts("");
  std::string line;
  for (const Rank rank : found.ranks) {
    if (!line.empty()) line += ',';
    line += network != nullptr ? network->node_of(rank).name : std::to_string(rank);
  }
  std::puts(line.c_str());
  if (!options.output.empty()) write_text(options.output, line + "\n");
}

void run_order(const Options& options) {
  const std::uint64_t bytes = parse_bytes(options.size);
  if (options.network.empty() == options.matrix.empty()) {
    throw Error(ErrorCode::invalid_argument, "give either a network or --matrix FILE");
  }
  if (!options.matrix.empty()) {
    const PairTimes times =
        pair_times_from_csv(contents(options.matrix), contents(options.latencies), bytes);
    print_order(order_ring(times), nullptr, options);
    return;
  }
  const Network network = load_network(options.network);
  Routes routes(network, options.route_options());
  print_order(order_ring(network, routes, bytes), &network, options);
}

// --------------------------------------------------------------------------------- commands

using Run = void (*)(const Options&);

Command add_command(Command topo, const std::shared_ptr<Options>& options, const char* name,
                    const char* summary, Run run) {
  const Command command = topo.command(name, summary);
  command.action([options, run] {
    run(*options);
    return success;
  });
  return command;
}

void add_network(Command command, Options& options) {
  command.option("network", options.network, "such as torus:4x4, or a file").required();
}

void add_routes(Command command, Options& options) {
  command.option("--routes", options.routes,
                 "automatic, shortest, ecmp, dimension_order or up_down");
  command.option("--seed", options.seed, "seed of the ecmp hash");
}

}  // namespace

void add_topo(Command tutti) {
  const Command topo =
      tutti.command("topo", "networks: their links, routes, stretch, rank order and optimum");
  auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* summary, Run run) {
    return add_command(topo, options, name, summary, run);
  };
  add("list", "the networks that can be generated", list).json(options->json, "as JSON");

  const Command shown = add("show", "counts, bandwidths and the optimum", show);
  add_network(shown, *options);
  add_routes(shown, *options);
  shown.json(options->json, "as JSON");

  add_network(
      add("dot", "the network for Graphviz",
          [](const Options& o) { std::fputs(to_dot(load_network(o.network)).c_str(), stdout); }),
      *options);
  add_network(
      add("json", "the network as a file to keep or change",
          [](const Options& o) { std::fputs(to_json(load_network(o.network)).c_str(), stdout); }),
      *options);

  const Command stretched =
      add("stretch", "links per hop, and the busiest links, of a ring or a schedule", run_stretch);
  add_network(stretched, *options);
  add_routes(stretched, *options);
  const Option order = stretched.option("--order", options->order,
                                        "order of a ring: A,C,D,B (default: the order of ranks)");
  const Option scheduled =
      stretched.option("--algo", options->algorithm, "an algorithm instead of a ring")
          .excludes(order);
  stretched.json(options->json, "as JSON");
  stretched.option("--size", options->size, "bytes of a message, or of a rank's buffer");
  stretched
      .option("--svg", options->svg,
              "draw the ring as arcs over the network, with the names of its ranks")
      .excludes(scheduled);

  const Command ordered = add(
      "order", "the best order of ranks in a ring, on a network or from measurements", run_order);
  ordered.option("network", options->network, "such as torus:4x4, or a file");
  add_routes(ordered, *options);
  ordered.json(options->json, "as JSON");
  ordered.option("--size", options->size, "bytes of a message");
  ordered.option("-o,--output", options->output,
                 "write the list for --place, --order and TUTTI_ORDER: file:FILE");
  const Option matrix = ordered.option("--matrix", options->matrix,
                                       "CSV of bandwidths: a line per sender, 10GB/s or bytes/s");
  ordered.option("--latencies", options->latencies, "CSV of latencies: 5us or seconds")
      .needs(matrix);
}

}  // namespace tutti::cli
