#include "select/selector.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include <tutti/error.hpp>

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
  if (!one_fold || method.traits().folds_in_rank_order) return "";
  std::string those;
  for (const Algorithm& each : algorithms(method.collective())) {
    if (each.traits.folds_in_rank_order) {
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
  const std::uint64_t root = has_schedules_ && has_root(question.collective)
                                 ? std::uint64_t{question.root.index()} << 40
                                 : 0;
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
  std::vector<Candidate> ways = candidates(question);
  if (!ways.empty() && ways.front().barred.empty()) return std::move(ways.front());
  const Rule* const rule = rule_for(question);
  std::string why;
  if (rule != nullptr) {
    for (const Method& each : rule->methods) {
      std::string refusal = each.refusal(problem_for(each, question));
      if (refusal.empty()) refusal = refusal_of_folds(each, question.one_fold);
      if (!refusal.empty()) why += "; " + refusal;
      if (question.counted && each.traits().needs_counts) {
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

Problem Selector::problem_for(const Method& method, const Question& question) const {
  return {.ranks = forecast_->party().ranks,
          .root = question.root,
          .shape = method.needs_shape() ? forecast_->party().hosts : Shape{}};
}

bool Selector::is_possible(const Method& method, const Question& question, const Rule* rule) const {
  if (question.counted && method.traits().needs_counts) return false;
  // Hierarchical algorithms are candidates on hosts with several ranks each and on tori, or if a
  // rule names one.
  const Party& party = forecast_->party();
  const bool shaped = party.network ? !party.hosts.empty() : party.is_mixed();
  const bool wanted = rule != nullptr && !rule->excludes && rule->names(method);
  if (method.needs_shape() && !shaped && !wanted) return false;
  return method.refusal(problem_for(method, question)).empty();
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
  for (const Algorithm& each : algorithms(question.collective)) add(each);
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

std::vector<Candidate> Selector::candidates(const Question& question) const {
  const Rule* const rule = rule_for(question);
  std::vector<Candidate> ways;
  for (const Method& each : methods_for(question, rule)) {
    const Problem problem = problem_for(each, question);
    if (question.one_fold && !each.traits().folds_in_rank_order) continue;
    Candidate way{.method = each,
                  .shape = problem.shape,
                  .expected = forecast_->expect(each, problem, question.bytes)};
    if (rule != nullptr && rule->names(each) == rule->excludes) way.barred = rule->source;
    ways.push_back(std::move(way));
  }
  std::stable_sort(ways.begin(), ways.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(!a.barred.empty(), a.expected.given_up, a.expected.seconds) <
           std::tuple(!b.barred.empty(), b.expected.given_up, b.expected.seconds);
  });
  return ways;
}

}  // namespace tutti
