#include "schedules.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tutti/drawing.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/bounds.hpp>
#include <tutti/schedule/closed_form.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/price.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/schedule_hash.hpp>
#include <tutti/schedule/schedule_json.hpp>
#include <tutti/schedule/trace.hpp>
#include <tutti/schedule/verify.hpp>
#include <tutti/sim/simulation.hpp>
#include <tutti/sim/simulation_json.hpp>

#include "errors.hpp"
#include "gil.hpp"
#include "networks.hpp"

namespace tutti::python {

const ProvedSchedule& proved(nb::handle schedule, const char* call) {
  // tutti.Schedule keeps its value here; a value is one itself.
  const nb::object value = nb::getattr(schedule, "_value", nb::borrow(schedule));
  if (!nb::isinstance<ScheduleValue>(value)) {
    throw WrongType(std::string(call) + ": schedule must be a tutti.Schedule");
  }
  return nb::inst_ptr<ScheduleValue>(value)->proved();
}

namespace {

ScheduleValue by_algorithm(const std::string& name, std::uint32_t ranks, std::uint32_t root,
                           const std::string& shape) {
  Problem problem{.ranks = ranks, .root = root};
  const Algorithm& found = algorithm(name);
  if (!shape.empty()) {
    problem.shape = parse_shape(shape);
  } else if (found.needs_shape()) {
    problem.shape = squarest(ranks);
  }
  const WithoutGil released;
  return ScheduleValue(found.schedule(problem));
}

ScheduleValue by_programs(const std::string& name, const std::string& collective,
                          std::uint32_t root, std::uint64_t chunks, const nb::list& programs) {
  Schedule schedule{.name = name,
                    .contract = {.collective = parse_collective(collective),
                                 .ranks = static_cast<std::uint32_t>(nb::len(programs)),
                                 .root = root,
                                 .chunks = chunks},
                    .programs = {}};
  for (const nb::handle each : programs) {
    schedule.programs.push_back(*nb::inst_ptr<Program>(each));
  }
  schedule.contract.check();
  return ScheduleValue(std::move(schedule));
}

nb::object optional_number(const auto& value) {
  return value ? nb::object(nb::int_(*value)) : nb::object(nb::none());
}

nb::tuple verify_value(const ScheduleValue& value, nb::handle in_place) {
  Verification verification;
  {
    const bool both = in_place.is_none();
    const Aliasing aliasing =
        in_place.ptr() == Py_True ? Aliasing::in_place : Aliasing::out_of_place;
    const WithoutGil released;
    verification = both ? verify(value.schedule()) : verify(value.schedule(), aliasing);
  }
  nb::list violations;
  for (const Violation& each : verification.violations) {
    const auto chunk = each.chunk ? std::optional(each.chunk->index()) : std::nullopt;
    violations.append(nb::make_tuple(std::string(name(each.kind)), each.message, each.rank,
                                     optional_number(each.round), optional_number(each.step),
                                     optional_number(chunk)));
  }
  return nb::make_tuple(violations, verification.violation_count, verification.steps,
                        verification.messages, verification.folds_in_rank_order);
}

nb::tuple figures_of(const ScheduleValue& value, std::uint64_t size) {
  const Schedule& schedule = value.schedule();
  const Figures f = count(schedule, even_layout(schedule.contract, size));
  return nb::make_tuple(f.rounds, f.messages, f.bytes, f.reduced, f.most_sent, f.most_received,
                        f.most_reduced, f.most_in_a_round);
}

nb::tuple price_of(const ScheduleValue& value, std::uint64_t size, double alpha, double beta,
                   double gamma, std::uint32_t ranks_per_node, double inside_alpha,
                   double inside_beta, bool one_port) {
  if (ranks_per_node == 0) refuse("cost: ranks_per_node must be at least 1");
  const Schedule& schedule = value.schedule();
  const Verification checked = verify(schedule, Aliasing::out_of_place);
  if (!checked.ok()) refuse("cost: the schedule is wrong: " + checked.violations.front().message);
  const CostModel model{.link = {.alpha = alpha, .beta = beta},
                        .gamma = gamma,
                        .ranks_per_node = ranks_per_node,
                        .inside = {.alpha = inside_alpha, .beta = inside_beta}};
  CostModel used = model;
  if (ranks_per_node == 1) used.inside = used.link;
  const Price price = Pricer(schedule).price(even_layout(schedule.contract, size), used,
                                             one_port ? Ports::one : Ports::unlimited);
  return nb::make_tuple(price.seconds, price.messages, price.bytes, price.reduced);
}

/// One table for each round, from the start: rows are ranks, columns chunks.
nb::list trace_of(const ScheduleValue& value) {
  const Schedule& schedule = value.schedule();
  constexpr std::uint64_t most = 1U << 20;
  if (schedule.contract.ranks * schedule.contract.chunks > most) {
    throw Error(ErrorCode::unsupported, "trace: too many ranks and chunks to list");
  }
  Trace trace(schedule);
  nb::list rounds;
  while (true) {
    nb::list ranks;
    for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
      nb::list chunks;
      for (std::uint64_t c = 0; c < schedule.contract.chunks; ++c) {
        const Symbol held = trace.held(r, Chunk{c});
        chunks.append(held == Symbols::nothing ? std::string() : to_string(trace.symbols(), held));
      }
      ranks.append(chunks);
    }
    rounds.append(ranks);
    if (trace.round() == schedule.rounds()) return rounds;
    trace.advance();
  }
}

/// A simulation with its network, which its drawings need.
struct SimulationValue {
  Simulation simulation{};
  Network network;
  std::string title{};
};

nb::list activities_of(const std::vector<Activity>& activities) {
  nb::list all;
  for (const Activity& each : activities) {
    all.append(nb::make_tuple(each.kind == Activity::Kind::message ? "message" : "sum", each.rank,
                              each.peer, each.round, each.bytes, each.begin, each.end, each.alone));
  }
  return all;
}

SimulationValue simulate_value(const ScheduleValue& value, nb::handle network, std::uint64_t size,
                               double alpha, double gamma, std::uint32_t ports, std::uint64_t slice,
                               double noise, std::uint64_t seed,
                               const std::vector<std::uint32_t>& places, bool records,
                               const std::string& routes) {
  SimulationValue result{.network = network_of(network)};
  SimulationSettings settings{.alpha = alpha,
                              .gamma = gamma,
                              .ports = ports,
                              .slice = slice,
                              .noise = noise,
                              .seed = seed,
                              .records = records};
  constexpr std::uint32_t intervals = 200;
  if (records) settings.intervals = intervals;
  for (const std::uint32_t place : places) settings.places.emplace_back(place);
  const Schedule& schedule = value.schedule();
  result.title = schedule.name + " on " + result.network.name;
  Routes found(result.network, {.policy = parse_route_policy(routes), .seed = seed});
  const WithoutGil released;
  result.simulation = simulate(result.network, found, source_of(schedule),
                               even_layout(schedule.contract, size), settings);
  return result;
}

/// The name of its row in the table, if it has one.
std::string row_of(const Schedule& schedule) {
  return schedule.name.substr(0, schedule.name.find(':'));
}

/// The lines below the title of a drawing.
DrawingText text_of(const Schedule& schedule) {
  DrawingText text;
  for (const Algorithm& each : algorithms()) {
    if (each.name == row_of(schedule)) text.lines.emplace_back(each.summary);
  }
  return text;
}

std::string explain_value(const ScheduleValue& value) {
  for (const Algorithm& each : algorithms()) {
    if (each.name == row_of(value.schedule())) {
      return explain(value.schedule(), std::string(each.summary), std::string(each.order));
    }
  }
  return explain(value.schedule());
}

std::string draw_load_of(const ScheduleValue& value, nb::handle network, std::uint64_t size) {
  const Network found = network_of(network);
  Routes routes(found);
  return draw_load(value.schedule(), even_layout(value.schedule().contract, size), found, routes);
}

nb::list all_algorithms() {
  nb::list all;
  for (const Algorithm& each : algorithms()) {
    const ClosedForm* const form = find_closed_form(each.name);
    const auto text = [](std::string_view view) { return std::string(view); };
    const nb::object formulas =
        form == nullptr ? nb::object(nb::none())
                        : nb::object(nb::make_tuple(text(form->rounds), text(form->bytes),
                                                    text(form->seconds)));
    nb::list parameters;
    for (const AlgorithmParameter& one : each.parameters) {
      parameters.append(
          nb::make_tuple(text(one.name), text(one.summary), one.least, one.most, one.usual));
    }
    all.append(nb::make_tuple(text(each.name), text(name(each.collective)), text(each.summary),
                              text(each.order), each.needs_shape(), text(each.limits), formulas,
                              parameters));
  }
  return all;
}

void register_simulation(nb::module_& module) {
  nb::class_<SimulationValue>(module, "SimulationValue")
      .def_prop_ro("seconds", [](const SimulationValue& v) { return v.simulation.seconds; })
      .def_prop_ro("messages", [](const SimulationValue& v) { return v.simulation.messages; })
      .def_prop_ro("bytes", [](const SimulationValue& v) { return v.simulation.bytes; })
      .def_prop_ro("finished", [](const SimulationValue& v) { return v.simulation.finished; })
      .def_prop_ro(
          "links",
          [](const SimulationValue& v) {
            nb::list links;
            for (std::uint32_t i = 0; i < v.simulation.links.size(); ++i) {
              links.append(nb::make_tuple(v.network.describe(LinkId{i}),
                                          v.simulation.links[i].bytes, v.simulation.links[i].busy));
            }
            return links;
          })
      .def_prop_ro(
          "critical_path",
          [](const SimulationValue& v) { return activities_of(v.simulation.critical_path); })
      .def_prop_ro("activities",
                   [](const SimulationValue& v) { return activities_of(v.simulation.activities); })
      .def("to_json", [](const SimulationValue& v) { return to_json(v.simulation, v.network); })
      .def("to_chrome_trace",
           [](const SimulationValue& v) { return to_chrome_trace(v.simulation, v.network); })
      .def("draw", [](const SimulationValue& v) {
        return draw_timeline(v.simulation, v.network, {.title = v.title});
      });
}

}  // namespace

void register_schedules(nb::module_& module) {
  nb::class_<ScheduleValue>(module, "ScheduleValue")
      .def_prop_ro("name", [](const ScheduleValue& v) { return v.schedule().name; })
      .def_prop_ro("collective",
                   [](const ScheduleValue& v) {
                     return std::string(name(v.schedule().contract.collective));
                   })
      .def_prop_ro("ranks", [](const ScheduleValue& v) { return v.schedule().contract.ranks; })
      .def_prop_ro("root", [](const ScheduleValue& v) { return v.schedule().contract.root; })
      .def_prop_ro("chunks", [](const ScheduleValue& v) { return v.schedule().contract.chunks; })
      .def_prop_ro("rounds", [](const ScheduleValue& v) { return v.schedule().rounds(); })
      .def("program",
           [](const ScheduleValue& v, std::uint32_t rank) {
             if (rank >= v.schedule().programs.size()) {
               refuse("there is no rank " + std::to_string(rank));
             }
             return v.schedule().programs[rank];
           })
      .def("hash", [](const ScheduleValue& v) { return content_hash(v.schedule()); })
      .def("prove", [](ScheduleValue& v) { return v.proved().label(); })
      .def("verify", verify_value, nb::arg("in_place").none())
      .def("figures", figures_of)
      .def("price", price_of)
      .def("trace", trace_of)
      .def("simulate", simulate_value)
      .def("to_json", [](const ScheduleValue& v) { return to_json(v.schedule()); })
      .def("explain", explain_value)
      .def("draw",
           [](const ScheduleValue& v) { return draw_rounds(v.schedule(), text_of(v.schedule())); })
      .def("play",
           [](const ScheduleValue& v) { return draw_player(v.schedule(), text_of(v.schedule())); })
      .def("draw_load", draw_load_of)
      .def("__eq__", [](const ScheduleValue& a, const ScheduleValue& b) {
        return a.schedule() == b.schedule();
      });
  register_simulation(module);
  module.def("schedule_by_algorithm", by_algorithm);
  module.def("schedule_by_programs", by_programs);
  module.def("schedule_from_json",
             [](const std::string& text) { return ScheduleValue(schedule_from_json(text)); });
  module.def("load_schedule",
             [](const std::string& path) { return ScheduleValue(load_schedule(path)); });
  module.def("algorithms", all_algorithms);
  module.def("bounds", [](const std::string& collective, std::uint32_t ranks, std::uint64_t size) {
    const Bounds least = bounds(parse_collective(collective), ranks, size);
    return nb::make_tuple(least.rounds, least.most_sent, least.most_received, least.bytes,
                          least.reduced);
  });
}

}  // namespace tutti::python
