#include "web/facade/inputs.hpp"

#include <tutti/error.hpp>
#include <tutti/schedule/closed_form.hpp>

#include "core/quantity.hpp"

namespace tutti::web {

std::string ScheduleInput::key() const {
  return std::string(algorithm->name) + " " + std::to_string(problem.ranks) + " " +
         std::to_string(problem.root) + " " + to_string(problem.shape);
}

ScheduleInput read_problem(const JsonReader& arguments, const Algorithm& algorithm) {
  ScheduleInput input{.algorithm = &algorithm};
  input.problem.ranks = arguments.value<std::uint32_t>("ranks", 4);
  if (input.problem.ranks == 0) throw Error(ErrorCode::invalid_argument, "there are no ranks");
  if (has_root(algorithm.collective)) {
    input.problem.root = arguments.value<std::uint32_t>("root", 0);
  }
  const std::string shape = arguments.value("shape", "");
  if (algorithm.needs_shape()) {
    input.problem.shape = shape.empty() ? squarest(input.problem.ranks) : parse_shape(shape);
  }
  input.problem = algorithm.completed(input.problem);
  return input;
}

ScheduleInput read_schedule(const JsonReader& arguments) {
  return read_problem(arguments, algorithm(arguments.at("algorithm").string()));
}

std::uint64_t read_size(const JsonReader& arguments) {
  return parse_bytes(arguments.value("size", "1MiB"));
}

CostModel read_model(const JsonReader& arguments) {
  return {.link = {.alpha = parse_seconds(arguments.value("alpha", "1us")),
                   .beta = 1 / parse_rate(arguments.value("bandwidth", "100GB/s"))},
          .gamma = parse_seconds_per_byte(arguments.value("gamma", "0")),
          .ranks_per_node = std::max<std::uint32_t>(1, arguments.value<std::uint32_t>("node", 1)),
          .inside = {.alpha = parse_seconds(arguments.value("node_alpha", "0")),
                     .beta = 1 / parse_rate(arguments.value("node_bandwidth", "1000GB/s"))}};
}

Ports read_ports(const JsonReader& arguments) {
  return arguments.value("ports", "one") == "unlimited" ? Ports::unlimited : Ports::one;
}

std::uint64_t message_count(const ScheduleInput& input) {
  const Contract contract = input.algorithm->contract(input.problem);
  if (const ClosedForm* const form = find_closed_form(input.algorithm->name)) {
    return form->figures(input.problem, contract.chunks).messages;
  }
  std::uint64_t sent = 0;
  for (const Step step : input.algorithm->program(input.problem, input.problem.root)) {
    if (step.kind == Step::Kind::send) sent += step.peers.size();
  }
  return sent * input.problem.ranks;
}

}  // namespace tutti::web
