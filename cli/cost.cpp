#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/schedule/bounds.hpp>
#include <tutti/schedule/closed_form.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/sim/simulation.hpp>

#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"
#include "cli/console/progress.hpp"
#include "cli/simulation/case.hpp"
#include "cli/simulation/rules.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "core/workers.hpp"

namespace tutti::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  ProblemOptions problem;
  ModelOptions model;
  std::string size;
  std::string topo;
  bool formulas = false;
  bool json = false;
};

/// The cost of one algorithm.
struct Row {
  const Algorithm* algorithm = nullptr;
  Problem problem;
  std::uint64_t chunks = 1;
  Figures figures;
  std::uint64_t most_through = 0;  ///< The most that one rank sends and receives.
  Price one_port;
  Price unlimited;
  std::optional<double>
      on_network{};  ///< Seconds on the network of --topo, whose links are shared.

  [[nodiscard]] std::string name() const {
    const std::string shape = algorithm->needs_shape() ? " " + to_string(problem.shape) : "";
    return std::string(algorithm->name) + shape;
  }
};

/// Without a size, one byte per chunk, so that shares of the data D are exact fractions.
Layout layout_for(const Contract& contract, std::optional<std::uint64_t> size) {
  return size ? even_layout(contract, *size)
              : Layout::equal(contract.chunks, contract.collective == Collective::barrier ? 0 : 1);
}

std::vector<Row> price_all(const Options& options, std::optional<std::uint64_t> size) {
  std::vector<Row> rows;
  for (const std::string& name : joined_names(options.names)) {
    for (const Algorithm* each : algorithms_named(name)) {
      const Problem problem = options.problem.problem(*each);
      // Skip an algorithm that cannot use the shape, and price the others.
      if (!each->refusal(problem).empty() && name.find('/') == std::string::npos) continue;
      rows.push_back(
          {.algorithm = each, .problem = problem, .figures = {}, .one_port = {}, .unlimited = {}});
    }
  }
  const CostModel model = options.model.model();
  Progress progress("pricing", rows.size());
  in_parallel(rows.size(), [&](std::size_t i) {
    Row& row = rows[i];
    const Schedule schedule = built_schedule(*row.algorithm, row.problem);
    const Layout layout = layout_for(schedule.contract, size);
    row.chunks = schedule.contract.chunks;
    row.figures = count(schedule, layout);
    for (const Program& program : schedule.programs) {
      const RankFigures own = count(program, layout);
      row.most_through = std::max(row.most_through, own.sent + own.received);
    }
    if (size) {
      const Pricer pricer(schedule);
      row.one_port = pricer.price(layout, model, Ports::one);
      row.unlimited = pricer.price(layout, model, Ports::unlimited);
    }
    progress.advance();
  });
  if (size) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return a.one_port.seconds < b.one_port.seconds;
    });
  }
  return rows;
}

/// A figure relative to the least possible: "1.33x"; empty without a bound.
std::string times_bound(double figure, double bound) {
  if (bound == 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", figure / bound);
  return text;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// 14 of 7 chunks → "2 D"; 1 of 5 → "D/5"; 8 of 5 → "8/5 D".
std::string share_of_data(std::uint64_t amount, std::uint64_t chunks) {
  if (amount == 0) return "0";
  const std::uint64_t divisor = std::gcd(amount, chunks);
  const std::uint64_t above = amount / divisor;
  const std::uint64_t below = chunks / divisor;
  if (below == 1) return above == 1 ? "D" : std::to_string(above) + " D";
  if (above == 1) return "D/" + std::to_string(below);
  return std::to_string(above) + "/" + std::to_string(below) + " D";
}

using Align = TextTable::Align;

/// A table without sizes and times: everything as a share of the data D of a rank.
void print_shares(const std::vector<Row>& rows) {
  TextTable table({{"algorithm", Align::left},
                   {"total sent", Align::right},
                   {"steps", Align::right},
                   {"most in a step", Align::right},
                   {"most by a rank", Align::right},
                   {"in and out", Align::right},
                   {"messages", Align::right},
                   {"added", Align::right}});
  for (const Row& row : rows) {
    // An alltoall numbers the chunks of all ranks; D is the data of one rank.
    const bool pairs = row.algorithm->collective == Collective::alltoall;
    const std::uint64_t whole = pairs ? row.chunks / row.problem.ranks : row.chunks;
    const Figures& f = row.figures;
    table.add({row.name(), share_of_data(f.bytes, whole), std::to_string(f.rounds),
               share_of_data(f.most_in_a_round, whole), share_of_data(f.most_sent, whole),
               share_of_data(row.most_through, whole), with_commas(f.messages),
               share_of_data(f.reduced, whole)});
  }
  std::fputs(table.text().c_str(), stdout);
  std::printf(
      "\nBytes are counted once, where they are sent. Most: by one rank. In and out: sent and "
      "received by "
      "the busiest rank. --size adds bytes, bounds and times.\n");
}

std::string linear_form(const Price& price, std::uint64_t size) {
  const double n = static_cast<double>(std::max<std::uint64_t>(size, 1));
  std::string text = std::to_string(price.messages) + "α";
  if (price.bytes > 0) text += " + " + decimal(static_cast<double>(price.bytes) / n) + "nβ";
  if (price.reduced > 0) text += " + " + decimal(static_cast<double>(price.reduced) / n) + "nγ";
  return text;
}

void print_times(const std::vector<Row>& rows, const Options& options, std::uint64_t size) {
  std::vector<std::pair<std::string, Align>> columns{
      {"algorithm", Align::left},       {"time", Align::right},  {"critical path", Align::left},
      {"own links", Align::right},      {"steps", Align::right}, {"total sent", Align::right},
      {"most by a rank", Align::right}, {"", Align::right},      {"most in a step", Align::right},
      {"added", Align::right}};
  if (!options.topo.empty()) columns.emplace_back("on " + options.topo, Align::right);
  TextTable table(columns);
  for (const Row& row : rows) {
    const Figures& f = row.figures;
    const Bounds least = bounds(row.algorithm->collective, row.problem.ranks, size);
    std::vector<std::string> cells{
        row.name(),
        format_seconds(row.one_port.seconds),
        linear_form(row.one_port, size),
        format_seconds(row.unlimited.seconds),
        std::to_string(f.rounds),
        with_commas(f.bytes),
        with_commas(f.most_sent),
        times_bound(static_cast<double>(f.most_sent), static_cast<double>(least.most_sent)),
        with_commas(f.most_in_a_round),
        with_commas(f.reduced)};
    if (row.on_network) cells.push_back(format_seconds(*row.on_network));
    table.add(std::move(cells));
  }
  std::printf("%u ranks, n = %s, %s\n\n", options.problem.rank_count(), format_bytes(size).c_str(),
              options.model.describe().c_str());
  std::fputs(table.text().c_str(), stdout);
  std::puts(
      "\nTime: one message in and out of a rank at once. Own links: any number, each over a link "
      "of "
      "its own, at full bandwidth.");
  if (!options.topo.empty()) {
    const Network network = load_network(options.topo);
    const SimulationSettings settings{.gamma = options.model.model().gamma, .ports = 0};
    std::printf("On %s: simulated, messages share its links; its bandwidths and latencies;\n%s.\n",
                options.topo.c_str(), rules_text(settings, Routes(network).policy()).c_str());
  }
  const Collective collective = rows.front().algorithm->collective;
  const bool one_collective = std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    return row.algorithm->collective == collective;
  });
  if (!one_collective) return;
  const Bounds least = bounds(collective, options.problem.rank_count(), size);
  std::printf(
      "\nLower bounds of any %s: some rank sends %s and some rank receives %s bytes, "
      "%s in all;\n%u steps with one message in and out per rank and step. "
      "\"x\" is a rank's bytes relative to that.\n",
      std::string(name(collective)).c_str(), with_commas(least.most_sent).c_str(),
      with_commas(least.most_received).c_str(), with_commas(least.bytes).c_str(), least.rounds);
}

void print_formulas(const std::vector<Row>& rows) {
  TextTable table({{"algorithm", Align::left},
                   {"steps", Align::left},
                   {"total sent", Align::left},
                   {"most in a step", Align::left},
                   {"time, one port", Align::left}});
  for (const Row& row : rows) {
    const ClosedForm* const form = find_closed_form(row.algorithm->name);
    if (form == nullptr) {
      table.add({std::string(row.algorithm->name), "no closed form", "", "", ""});
      continue;
    }
    table.add({std::string(form->algorithm), std::string(form->rounds), std::string(form->bytes),
               std::string(form->most_in_a_round), std::string(form->seconds)});
  }
  std::printf("\nIn general, with L = ⌈log₂ p⌉ and h = ⌊log₂ p⌋:\n\n%s", table.text().c_str());
}

Json to_json(const Price& price) {
  return {{"seconds", price.seconds},
          {"messages", price.messages},
          {"bytes", price.bytes},
          {"reduced", price.reduced}};
}

void print_json(const std::vector<Row>& rows, std::optional<std::uint64_t> size) {
  Json list = Json::array();
  for (const Row& row : rows) {
    const Figures& f = row.figures;
    Json entry{{"algorithm", row.algorithm->name},
               {"ranks", row.problem.ranks},
               {"shape", to_string(row.problem.shape)},
               {"chunks", row.chunks},
               {"rounds", f.rounds},
               {"messages", f.messages},
               {"bytes", f.bytes},
               {"reduced", f.reduced},
               {"most_sent", f.most_sent},
               {"most_received", f.most_received},
               {"most_through", row.most_through},
               {"most_reduced", f.most_reduced},
               {"most_in_a_round", f.most_in_a_round}};
    if (size) {
      const Bounds least = bounds(row.algorithm->collective, row.problem.ranks, *size);
      entry["bounds"] = {{"rounds", least.rounds},
                         {"most_sent", least.most_sent},
                         {"most_received", least.most_received},
                         {"bytes", least.bytes},
                         {"reduced", least.reduced}};
      entry["one_port"] = to_json(row.one_port);
      entry["own_links"] = to_json(row.unlimited);
      if (row.on_network) entry["on_network"] = {{"seconds", *row.on_network}};
    }
    list.push_back(std::move(entry));
  }
  Json document;
  document["unit"] = size ? "bytes" : "chunks";
  if (size) document["size"] = *size;
  document["algorithms"] = std::move(list);
  std::puts(json_text(document, 2).c_str());
}

/// Simulates every schedule on the network, as many messages at once as its links carry.
void price_links(const Options& options, std::uint64_t size, std::vector<Row>& rows) {
  const Network network = load_network(options.topo);
  const double gamma = options.model.model().gamma;
  in_parallel(rows.size(), [&](std::size_t i) {
    Row& row = rows[i];
    const ScheduleSource source = source_of(*row.algorithm, row.problem);
    Routes routes(network);
    row.on_network = simulate(network, routes, source, even_layout(source.contract, size),
                              {.gamma = gamma, .ports = 0})
                         .seconds;
  });
}

void run(const Options& options) {
  std::optional<std::uint64_t> size;
  if (!options.size.empty()) size = parse_bytes(options.size);
  if (!size && !options.topo.empty()) {
    throw Error(ErrorCode::invalid_argument, "a time on --topo depends on the size; add --size");
  }
  std::vector<Row> rows = price_all(options, size);
  if (rows.empty()) {
    throw Error(ErrorCode::unsupported,
                "no algorithm of that name has a schedule for this shape; try another --shape");
  }
  if (!options.topo.empty()) price_links(options, *size, rows);
  if (options.json) {
    print_json(rows, size);
    return;
  }
  size ? print_times(rows, options, *size) : print_shares(rows);
  if (options.formulas) print_formulas(rows);
}

}  // namespace

void add_cost(Command tutti) {
  const Command command = tutti.command(
      "cost",
      "count and price schedules: bytes, steps, α-β-γ time, and the distance to the bounds");
  auto options = std::make_shared<Options>();
  command
      .option("names", options->names,
              "collectives or algorithms: allreduce, allreduce/ring, allreduce ring tree")
      .text("NAME...")
      .required();
  options->problem.add(command);
  command
      .option("--size", options->size,
              "bytes of a rank's larger buffer: 1MiB; without it, shares of the data D")
      .text("SIZE");
  options->model.add(command);
  command
      .option("--topo", options->topo,
              "also the time on a network whose links are shared: fat_tree:k=8, or a file")
      .text("NETWORK");
  command.flag("--formulas", options->formulas, "add the closed forms");
  command.json(options->json, "as JSON");
  command.action([options] {
    run(*options);
    return success;
  });
}

}  // namespace tutti::cli
