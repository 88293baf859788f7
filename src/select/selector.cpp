#include "select/selector.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// Sizes are decided in classes: eight to a doubling, so that neighbours differ by less than what
/// can be measured.
constexpr std::uint64_t classes_per_doubling = 8;

std::uint64_t size_class(std::uint64_t bytes) {
  if (bytes < classes_per_doubling) return bytes;
  const auto doubling = static_cast<std::uint64_t>(std::bit_width(bytes)) - 1;
  const std::uint64_t part = (bytes >> (doubling - 3)) & (classes_per_doubling - 1);
  return doubling * classes_per_doubling + part;
}

/// The least size of a class, for which all of it is decided.
std::uint64_t representative(std::uint64_t size_class) {
  if (size_class < classes_per_doubling) return size_class;
  const std::uint64_t doubling = size_class / classes_per_doubling;
  return (classes_per_doubling + size_class % classes_per_doubling) << (doubling - 3);
}

}  // namespace

std::string refusal_of_folds(const Algorithm& algorithm, bool one_fold) {
  if (!one_fold || algorithm.folds_in_rank_order) return "";
  std::string those;
  for (const Algorithm& each : algorithms(algorithm.collective)) {
    if (each.folds_in_rank_order) those += (those.empty() ? " " : ", ") + std::string(each.name);
  }
  return std::string(algorithm.name) + " adds " + std::string(algorithm.order) +
         "; reproducible = order and exact ask for one fold of all contributions in order of rank, "
         "by" +
         those;
}

Selector::Selector(std::shared_ptr<const Profile> profile, Rules rules, const Party& party)
    : profile_(std::move(profile)), rules_(std::move(rules)), forecast_(*profile_, party) {}

const Candidate& Selector::choose(const Question& question) {
  const Party& party = forecast_.party();
  const Rule* const rule =
      rules_.find(question.collective, question.bytes, party.ranks, party.reach);
  const std::uint64_t which =
      rule == nullptr ? 0 : static_cast<std::uint64_t>(rule - rules_.all().data()) + 1;
  const std::uint64_t sizes = size_class(question.bytes);
  const std::uint64_t key = (which * 1024 + sizes) * 32 +
                            static_cast<std::uint64_t>(question.collective) * 2 +
                            (question.counted ? 1 : 0);
  std::unordered_map<std::uint64_t, Candidate>& decided =
      question.one_fold ? decided_for_one_fold_ : decided_;
  const auto found = decided.find(key);
  if (found != decided.end()) return found->second;
  // By the rules for the very size, and by the times for those of its class.
  Question common = question;
  if (which == 0) common.bytes = representative(sizes);
  return decided.emplace(key, decide(common)).first->second;
}

Candidate Selector::decide(const Question& question) const {
  std::vector<Candidate> ways = candidates(question);
  if (!ways.empty() && ways.front().barred.empty()) return std::move(ways.front());
  const Party& party = forecast_.party();
  const Rule* const rule =
      rules_.find(question.collective, question.bytes, party.ranks, party.reach);
  std::string why;
  if (rule != nullptr) {
    for (const Algorithm* const each : rule->algorithms) {
      std::string refusal = each->refusal(problem_for(*each, question));
      if (refusal.empty()) refusal = refusal_of_folds(*each, question.one_fold);
      if (!refusal.empty()) why += "; " + refusal;
    }
    why = " that " + rule->source + " allows" + why;
  }
  throw Error(ErrorCode::unsupported, "there is no " + std::string(name(question.collective)) +
                                          " for " + std::to_string(party.ranks) + " ranks" + why);
}

Problem Selector::problem_for(const Algorithm& algorithm, const Question& question) const {
  return {.ranks = forecast_.party().ranks,
          .root = question.root,
          .shape = algorithm.needs_shape() ? forecast_.party().hosts : Shape{}};
}

bool Selector::is_possible(const Algorithm& algorithm, const Question& question) const {
  // Hierarchies are for hosts that have several ranks each, and for networks that are tori.
  const Party& party = forecast_.party();
  const bool shaped = party.network ? !party.hosts.empty() : party.is_mixed();
  if (algorithm.needs_shape() && !shaped) return false;
  // Bruck's all-to-all passes on blocks whose counts nobody else knows.
  if (question.counted && algorithm.name == "alltoall/bruck") return false;
  return algorithm.refusal(problem_for(algorithm, question)).empty();
}

std::vector<Candidate> Selector::candidates(const Question& question) const {
  const Party& party = forecast_.party();
  const Rule* const rule =
      rules_.find(question.collective, question.bytes, party.ranks, party.reach);
  std::vector<Candidate> ways;
  for (const Algorithm& each : algorithms(question.collective)) {
    const bool named =
        rule != nullptr && std::find(rule->algorithms.begin(), rule->algorithms.end(), &each) !=
                               rule->algorithms.end();
    const bool wanted = named && !rule->excludes;
    const Problem problem = problem_for(each, question);
    if (question.one_fold && !each.folds_in_rank_order) continue;
    if (!is_possible(each, question) && !(wanted && each.refusal(problem).empty())) continue;
    Candidate way{.algorithm = &each,
                  .shape = problem.shape,
                  .expected = forecast_.expect(each, problem, question.bytes)};
    if (rule != nullptr && named == rule->excludes) way.barred = rule->source;
    ways.push_back(std::move(way));
  }
  std::stable_sort(ways.begin(), ways.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(!a.barred.empty(), a.expected.given_up, a.expected.seconds) <
           std::tuple(!b.barred.empty(), b.expected.given_up, b.expected.seconds);
  });
  return ways;
}

}  // namespace tutti
