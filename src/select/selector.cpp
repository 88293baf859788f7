#include "select/selector.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include <tutti/error.hpp>
#include <tutti/schedule/closed_form.hpp>

namespace tutti {
namespace {

/// Size classes, eight per doubling: sizes within a class differ by less than the measurement
/// noise.
constexpr std::uint64_t classes_per_doubling = 8;

std::uint64_t size_class(std::uint64_t bytes) {
  if (bytes < classes_per_doubling) return bytes;
  const auto doubling = static_cast<std::uint64_t>(std::bit_width(bytes)) - 1;
  const std::uint64_t part = (bytes >> (doubling - 3)) & (classes_per_doubling - 1);
  return doubling * classes_per_doubling + part;
}

/// The smallest size of a class, which decides for the class.
std::uint64_t representative(std::uint64_t size_class) {
  if (size_class < classes_per_doubling) return size_class;
  const std::uint64_t doubling = size_class / classes_per_doubling;
  return (classes_per_doubling + size_class % classes_per_doubling) << (doubling - 3);
}

}  // namespace

std::string refusal_of_folds(const Method& method, bool one_fold) {
  if (!one_fold || method.folds_in_rank_order()) return "";
  std::string those;
  for (const Algorithm& each : algorithms(method.collective())) {
    if (each.folds_in_rank_order) {
      those += (those.empty() ? " " : ", ") + std::string(each.name);
    }
  }
  const std::string order =
      method.algorithm() != nullptr ? " adds " + std::string(method.algorithm()->order) : "";
  return std::string(method.label()) + (order.empty() ? " adds in another order" : order) +
         "; reproducible = order and exact need one fold of all contributions in order of rank, "
         "by" +
         those;
}

Selector::Selector(std::shared_ptr<const Forecast> forecast, Rules rules)
    : forecast_(std::move(forecast)), rules_(std::move(rules)) {
  has_schedules_ =
      std::ranges::any_of(forecast_->profile().measurements,
                          [](const Measurement& each) { return each.schedule.has_value(); }) ||
      std::ranges::any_of(rules_.all(), [](const Rule& rule) {
        return std::ranges::any_of(rule.methods,
                                   [](const Method& each) { return each.schedule() != nullptr; });
      });
}

const Rule* Selector::rule_for(const Question& question) const {
  const Party& party = forecast_->party();
  return rules_.find(question, party.ranks, party.reach);
}

const Candidate& Selector::choose(const Question& question) {
  const Rule* const rule = rule_for(question);
  const std::uint64_t which =
      rule == nullptr ? 0 : static_cast<std::uint64_t>(rule - rules_.all().data()) + 1;
  const std::uint64_t sizes = size_class(question.bytes);
  // A schedule is for one root; the time of an algorithm does not depend on the root.
  const std::uint64_t root =
      has_schedules_ && has_root(question.collective) ? std::uint64_t{question.root} << 40 : 0;
  const std::uint64_t key =
      ((which * 1024 + sizes) * 32 + static_cast<std::uint64_t>(question.collective) * 2 +
       (question.counted ? 1 : 0)) ^
      root;
  std::unordered_map<std::uint64_t, Candidate>& decided =
      question.one_fold ? decided_for_one_fold_ : decided_;
  const auto found = decided.find(key);
  if (found != decided.end()) return found->second;
  // Rules depend on the exact size; times are compared for the representative of its class.
  Question common = question;
  if (which == 0) common.bytes = representative(sizes);
  return decided.emplace(key, decide(common)).first->second;
}

Candidate Selector::decide(const Question& question) const {
  std::vector<Candidate> ways = ways_for(question, false);
  if (ways.empty() || !ways.front().barred.empty()) ways = ways_for(question, true);
  if (!ways.empty() && ways.front().barred.empty()) return std::move(ways.front());
  const Rule* const rule = rule_for(question);
  std::string why;
  if (rule != nullptr) {
    for (const Method& each : rule->methods) {
      std::string refusal = each.refusal(problem_for(shapes_for(each).front(), question));
      if (refusal.empty()) refusal = refusal_of_folds(each, question.one_fold);
      if (!refusal.empty()) why += "; " + refusal;
      if (question.counted && each.needs_counts()) {
        why += "; " + std::string(each.label()) +
               " forwards blocks of other ranks, whose counts this rank does not know";
      }
    }
    why = " that " + rule->source + " allows" + why;
  }
  throw Error(ErrorCode::unsupported, "there is no " + std::string(name(question.collective)) +
                                          " for " + std::to_string(forecast_->party().ranks) +
                                          " ranks" + why);
}

std::vector<Shape> Selector::shapes_for(const Method& method) const {
  if (!method.needs_shape()) return {Shape{}};
  const Party& party = forecast_->party();
  return party.shapes.empty() ? std::vector<Shape>{party.hosts} : party.shapes;
}

Problem Selector::problem_for(const Shape& shape, const Question& question) const {
  return {.ranks = forecast_->party().ranks, .root = question.root, .shape = shape};
}

bool Selector::is_possible(const Method& method, const Question& question, const Rule* rule) const {
  if (question.counted && method.needs_counts()) return false;
  // Hierarchical algorithms are candidates on hosts with several ranks each and on networks with a
  // shape, or if a rule names one.
  const Party& party = forecast_->party();
  const bool shaped = party.network ? !party.shapes.empty() : party.is_mixed();
  const bool wanted = rule != nullptr && !rule->excludes && rule->names(method);
  if (method.needs_shape() && !shaped && !wanted) return false;
  const std::vector<Shape> shapes = shapes_for(method);
  return std::ranges::any_of(shapes, [&](const Shape& shape) {
    return method.refusal(problem_for(shape, question)).empty();
  });
}

/// The table, and the schedules of the rule and the profile that fit.
std::vector<Method> Selector::methods_for(const Question& question, const Rule* rule) const {
  std::vector<Method> methods;
  const auto add = [&](const Method& method) {
    if (!is_possible(method, question, rule)) return;
    if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
      methods.push_back(method);
    }
  };
  for (const Algorithm& each : algorithms(question.collective)) {
    for (const Algorithm* variant : variants(each)) add(*variant);
  }
  if (rule != nullptr) {
    for (const Method& each : rule->methods) add(each);
  }
  for (const Measurement& each : forecast_->profile().measurements) {
    if (each.schedule && each.schedule->contract().collective == question.collective) {
      add(*each.schedule);
    }
  }
  return methods;
}

/// True if its messages would have to be counted, and the first call of each rank would wait for
/// that: 20 ms for all such algorithms among 128 ranks.
bool Selector::takes_long_to_count(const Method& method) const {
  constexpr std::uint32_t most_ranks = 32;
  const Party& party = forecast_->party();
  return party.ranks > most_ranks && !party.network && method.algorithm() != nullptr &&
         find_closed_form(method.algorithm()->name) == nullptr;
}

std::vector<Candidate> Selector::candidates(const Question& question) const {
  return ways_for(question, true);
}

std::vector<Candidate> Selector::ways_for(const Question& question, bool untried) const {
  const Rule* const rule = rule_for(question);
  std::vector<Candidate> ways;
  for (const Method& each : methods_for(question, rule)) {
    if (question.one_fold && !each.folds_in_rank_order()) continue;
    const bool wanted = rule != nullptr && !rule->excludes && rule->names(each);
    if (!untried && !wanted && (forecast_->is_untried(each) || takes_long_to_count(each))) continue;
    for (const Shape& shape : shapes_for(each)) {
      const Problem problem = problem_for(shape, question);
      if (!each.refusal(problem).empty()) continue;
      const bool barred = rule != nullptr && rule->names(each) == rule->excludes;
      if (barred && !untried) continue;
      Candidate way{.method = each,
                    .shape = shape,
                    .expected = forecast_->expect(each, problem, question.bytes)};
      if (barred) way.barred = rule->source;
      if (wanted) way.expected.untried = false;
      ways.push_back(std::move(way));
    }
  }
  std::stable_sort(ways.begin(), ways.end(), [](const Candidate& a, const Candidate& b) {
    const auto key = [](const Candidate& way) {
      return std::tuple(!way.barred.empty(), way.expected.given_up || way.expected.untried,
                        way.expected.seconds);
    };
    return key(a) < key(b);
  });
  break_tie(ways, question);
  return ways;
}

void Selector::break_tie(std::vector<Candidate>& ways, const Question& question) const {
  // The model has no price for messages that compete, nor for connections that are used in turn.
  // Over links of 1 Gb/s they cost about 10 %. Measured times contain that already.
  constexpr double tie = 1.01;
  constexpr std::uint32_t most_counted_ranks = 256;
  const Party& party = forecast_->party();
  const bool is_modelled = party.reach.pairs == Pairs::network || party.network;
  if (!is_modelled || party.ranks > most_counted_ranks || ways.size() < 2) return;
  const Candidate& first = ways.front();
  const auto ties = [&](const Candidate& way) {
    return way.barred == first.barred && !way.expected.measured && !way.expected.given_up &&
           way.expected.untried == first.expected.untried &&
           way.expected.seconds <= tie * first.expected.seconds;
  };
  if (!ties(first)) return;
  const auto flows = [&](const Candidate& way) {
    return forecast_->flows(way.method, problem_for(way.shape, question), question.bytes);
  };
  std::size_t best = 0;
  Flows fewest = flows(first);
  for (std::size_t i = 1; i < ways.size() && ties(ways[i]); ++i) {
    const Flows own = flows(ways[i]);
    if (own >= fewest) continue;
    best = i;
    fewest = own;
  }
  const auto begin = ways.begin();
  std::rotate(begin, begin + static_cast<std::ptrdiff_t>(best),
              begin + static_cast<std::ptrdiff_t>(best) + 1);
}

}  // namespace tutti
