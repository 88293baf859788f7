#include <algorithm>
#include <map>

#include <tutti/error.hpp>
#include <tutti/schedule/bounds.hpp>
#include <tutti/schedule/closed_form.hpp>
#include <tutti/schedule/crossover.hpp>
#include <tutti/schedule/figures.hpp>

#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "web/facade/explorer.hpp"

namespace tutti::web {
namespace {

Json describe(const Figures& figures) {
  return {{"rounds", figures.rounds},
          {"messages", figures.messages},
          {"bytes", figures.bytes},
          {"reduced", figures.reduced},
          {"most_sent", figures.most_sent},
          {"most_received", figures.most_received},
          {"most_reduced", figures.most_reduced},
          {"most_in_a_round", figures.most_in_a_round}};
}

Json describe(const Price& price) {
  return {{"seconds", price.seconds},
          {"messages", price.messages},
          {"bytes", price.bytes},
          {"reduced", price.reduced}};
}

Json describe(const Bounds& least) {
  return {{"rounds", least.rounds},
          {"most_sent", least.most_sent},
          {"most_received", least.most_received},
          {"bytes", least.bytes},
          {"reduced", least.reduced}};
}

/// Closed forms need chunks of equal size: the next size that gives them.
std::uint64_t divisible(const ScheduleInput& input, std::uint64_t size) {
  const std::uint64_t chunks = input.algorithm->collective == Collective::alltoall
                                   ? input.problem.ranks
                                   : input.algorithm->contract(input.problem).chunks;
  return (size + chunks - 1) / chunks * chunks;
}

std::optional<double> time_by_formula(const ScheduleInput& input, std::uint64_t size,
                                      const CostModel& model, Ports ports) {
  if (model.ranks_per_node > 1) return {};  // The formulas know one kind of link.
  const ClosedForm* const form = find_closed_form(input.algorithm->name);
  if (form == nullptr) return {};
  if (input.problem.ranks == 1) return 0.0;
  return form->time(input.problem, divisible(input, size), model.link, model.gamma, ports);
}

bool is_small(const ScheduleInput& input) { return message_count(input) <= most_messages; }

/// The algorithms of a collective that have a schedule for this problem.
std::vector<ScheduleInput> candidates(const JsonReader& arguments, Collective collective) {
  std::vector<ScheduleInput> found;
  for (const Algorithm& each : algorithms(collective)) {
    const ScheduleInput input = read_problem(arguments, each);
    if (each.refusal(input.problem).empty()) found.push_back(input);
  }
  return found;
}

/// The row of an algorithm whose schedule is too large: the same members by formula.
Json row_by_formula(const ScheduleInput& input, const ClosedForm& form, std::uint64_t size,
                    const CostModel& model) {
  Json row = describe(form.figures(input.problem, divisible(input, size)));
  row["counted"] = false;
  if (const auto seconds = time_by_formula(input, size, model, Ports::one)) {
    row["one_port"] = {{"seconds", *seconds}};
  }
  if (const auto seconds = time_by_formula(input, size, model, Ports::unlimited)) {
    row["own_links"] = {{"seconds", *seconds}};
  }
  return row;
}

/// `prices` is "one_port", "own_links" or "both".
Json counted_row(Explorer& explorer, const ScheduleInput& input, std::uint64_t size,
                 const CostModel& model, const std::string& prices) {
  KeptSchedule& kept = explorer.schedule(input);
  const Layout layout = even_layout(kept.schedule().contract, size);
  Json row = describe(count(kept.schedule(), layout));
  row["counted"] = true;
  if (prices != "own_links") {
    row["one_port"] = describe(kept.pricer().price(layout, model, Ports::one));
  }
  if (prices != "one_port") {
    row["own_links"] = describe(kept.pricer().price(layout, model, Ports::unlimited));
  }
  return row;
}

Json time_of(Explorer& explorer, const ScheduleInput& input, std::uint64_t size,
             const CostModel& model, Ports ports) {
  if (const auto seconds = time_by_formula(input, size, model, ports)) return *seconds;
  if (!is_small(input)) return nullptr;
  KeptSchedule& kept = explorer.schedule(input);
  const Layout layout = even_layout(kept.schedule().contract, size);
  return kept.pricer().price(layout, model, ports).seconds;
}

/// The arguments with one of them replaced.
JsonReader changed(const JsonReader& arguments, const std::string& key, const JsonReader& value) {
  Json all = arguments.json();
  all[key] = value.json();
  return JsonReader(std::move(all));
}

}  // namespace

/// The lectures' table: every algorithm of a collective, as `tutti cost COLLECTIVE --json` prints
/// it. An algorithm without a formula is left out if its schedule is too large. With "counted"
/// false, all figures are by formula: at once, whereas to count them takes a while.
Json cost(Explorer& explorer, const JsonReader& arguments) {
  const Collective collective = parse_collective(arguments.at("collective").string());
  const std::uint64_t size = read_size(arguments);
  const CostModel model = read_model(arguments);
  const std::string prices = arguments.value("prices", "both");
  Json rows = Json::array();
  const std::optional<JsonReader> only = arguments.find("algorithm");
  for (const ScheduleInput& input : candidates(arguments, collective)) {
    if (only && only->string() != input.algorithm->name) continue;
    const ClosedForm* const form = find_closed_form(input.algorithm->name);
    const bool is_counted = arguments.value("counted", true) && is_small(input);
    if (!is_counted && form == nullptr) continue;
    Json row = {{"algorithm", input.algorithm->name},
                {"ranks", input.problem.ranks},
                {"shape", to_string(input.problem.shape)},
                {"chunks", input.algorithm->contract(input.problem).chunks}};
    row.update(is_counted ? counted_row(explorer, input, size, model, prices)
                          : row_by_formula(input, *form, size, model));
    const auto formula = time_by_formula(input, size, model, Ports::one);
    row["formula_seconds"] = formula ? Json(*formula) : Json();
    rows.push_back(std::move(row));
  }
  const auto ranks = arguments.value<std::uint32_t>("ranks", 4);
  Json answer;
  answer["size"] = size;
  answer["bounds"] = describe(bounds(collective, ranks, size));
  answer["algorithms"] = std::move(rows);
  return answer;
}

/// How the figures of one schedule come about: round by round and rank by rank.
Json detail(Explorer& explorer, const JsonReader& arguments) {
  KeptSchedule& kept = explorer.schedule(read_schedule(arguments));
  const Schedule& schedule = kept.schedule();
  const Layout layout = even_layout(schedule.contract, read_size(arguments));
  struct Round {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t added = 0;
    std::uint64_t most = 0;
    std::uint64_t largest = 0;
  };
  std::vector<Round> rounds(schedule.rounds());
  Json ranks = Json::array();
  for (const Program& program : schedule.programs) {
    std::map<std::uint32_t, std::uint64_t> sent;
    for (const Step step : program) {
      std::uint64_t bytes = 0;
      for (const ChunkRange& range : step.chunks) bytes += layout.size(range);
      Round& round = rounds[step.round];
      if (step.kind == Step::Kind::send) {
        round.messages += step.peers.size();
        round.bytes += bytes * step.peers.size();
        round.largest = std::max(round.largest, bytes);
        round.most = std::max(round.most, sent[step.round] += bytes * step.peers.size());
      } else if (step.operands() > 1) {
        round.added += bytes * (step.operands() - 1);
      }
    }
    const RankFigures figures = count(program, layout);
    ranks.push_back(
        Json::array({figures.messages, figures.sent, figures.received, figures.reduced}));
  }
  Json list = Json::array();
  for (const Round& each : rounds) {
    list.push_back({{"messages", each.messages},
                    {"bytes", each.bytes},
                    {"added", each.added},
                    {"most", each.most},
                    {"largest", each.largest}});
  }
  Json answer;
  answer["rounds"] = std::move(list);
  answer["ranks"] = std::move(ranks);
  return answer;
}

/// The time of every algorithm over sizes, "sizes", or over another axis: "axis" is "ranks",
/// "alpha", "bandwidth" or "gamma", and "values" its values as they would be given as arguments.
Json curves(Explorer& explorer, const JsonReader& arguments) {
  const Collective collective = parse_collective(arguments.at("collective").string());
  const std::string axis = arguments.value("axis", "size");
  const Ports ports = read_ports(arguments);
  Json lines = Json::array();
  for (const Algorithm& each : algorithms(collective)) {
    Json seconds = Json::array();
    bool any = false;
    for (const JsonReader value : arguments.at("values").elements()) {
      const JsonReader point = changed(arguments, axis, value);
      const ScheduleInput input = read_problem(point, each);
      Json time = nullptr;
      if (each.refusal(input.problem).empty()) {
        time = time_of(explorer, input, read_size(point), read_model(point), ports);
      }
      any = any || !time.is_null();
      seconds.push_back(std::move(time));
    }
    if (any) lines.push_back({{"algorithm", each.name}, {"seconds", std::move(seconds)}});
  }
  Json answer;
  answer["lines"] = std::move(lines);
  return answer;
}

/// The size at which one algorithm becomes faster than another: by schedules as `tutti crossover`
/// finds it, or by formulas if they are too large.
Json crossing(Explorer& explorer, const JsonReader& arguments) {
  const ScheduleInput first = read_problem(arguments, algorithm(arguments.at("first").string()));
  const ScheduleInput second = read_problem(arguments, algorithm(arguments.at("second").string()));
  const CostModel model = read_model(arguments);
  const Ports ports = read_ports(arguments);
  constexpr std::uint64_t from = 1;
  constexpr std::uint64_t to = std::uint64_t{1} << 40;
  Json answer;
  if (is_small(first) && is_small(second)) {
    const Crossover found = crossover(explorer.schedule(first).schedule(),
                                      explorer.schedule(second).schedule(), model, ports, from, to);
    answer["size"] = found.size ? Json(*found.size) : Json();
    answer["below"] = (found.first_wins_below ? first : second).algorithm->name;
    answer["above"] = (found.first_wins_above ? first : second).algorithm->name;
    answer["counted"] = true;
    return answer;
  }
  const auto first_wins = [&](std::uint64_t size) {
    const auto one = time_by_formula(first, size, model, ports);
    const auto other = time_by_formula(second, size, model, ports);
    if (!one || !other) {
      throw Error(ErrorCode::unsupported, "there is no formula for one of the two at this p");
    }
    return *one < *other;
  };
  const bool below = first_wins(from);
  const bool above = first_wins(to);
  answer["counted"] = false;
  answer["below"] = (below ? first : second).algorithm->name;
  answer["above"] = (above ? first : second).algorithm->name;
  answer["size"] = nullptr;
  if (below == above) return answer;
  std::uint64_t low = from;
  std::uint64_t high = to;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (first_wins(middle) == below ? low : high) = middle;
  }
  answer["size"] = high;
  return answer;
}

/// The fastest algorithm for each number of ranks in "ranks_list" and each size in "sizes".
Json winners(Explorer& explorer, const JsonReader& arguments) {
  const Collective collective = parse_collective(arguments.at("collective").string());
  const CostModel model = read_model(arguments);
  const Ports ports = read_ports(arguments);
  Json rows = Json::array();
  for (const JsonReader ranks : arguments.at("ranks_list").elements()) {
    const JsonReader point = changed(arguments, "ranks", ranks);
    const std::vector<ScheduleInput> all = candidates(point, collective);
    Json row = Json::array();
    for (const JsonReader size : arguments.at("sizes").elements()) {
      const std::uint64_t bytes = parse_bytes(size.string());
      Json best = nullptr;
      double least = 0;
      for (const ScheduleInput& input : all) {
        // Pricing every point would take seconds; without a formula a small schedule is priced.
        if (!time_by_formula(input, bytes, model, ports) && message_count(input) > 4000) continue;
        const Json time = time_of(explorer, input, bytes, model, ports);
        if (time.is_null()) continue;
        const auto seconds = time.get<double>();
        if (best.is_null() || seconds < least * (1 - 1e-9)) {
          best = input.algorithm->name;
          least = seconds;
        }
      }
      row.push_back(std::move(best));
    }
    rows.push_back(std::move(row));
  }
  return {{"rows", std::move(rows)}};
}

}  // namespace tutti::web
