#include <algorithm>
#include <charconv>
#include <cmath>
#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <tutti/error.hpp>
#include <tutti/schedule/algorithm.hpp>

#include "algorithms/lecture_names.hpp"
#include "core/fork_safe_mutex.hpp"
#include "core/nearest.hpp"
#include "core/quantity.hpp"

namespace tutti {
namespace {

void require(const Algorithm& algorithm, const Problem& problem) {
  const std::string reason = algorithm.refusal(problem);
  if (!reason.empty()) throw Error(ErrorCode::unsupported, reason);
}

/// Refuses a schedule of all ranks that would take minutes to build and tens of gigabytes, soon
/// after the first programs were built. Not an exact limit: those that follow may be shorter.
class SizeCheck {
 public:
  explicit SizeCheck(const Contract& contract) : ranks_(contract.ranks) {}

  void add(const Schedule& schedule, const Program& program) {
    // A root may have many more steps than the others, so the first rank counts once.
    (built_++ == 0 ? first_ : others_) += program.size();
    const double others = built_ < 2 ? 0 : static_cast<double>(others_) / (built_ - 1);
    const double steps = static_cast<double>(first_) + others * (ranks_ - 1);
    // The ranks near a root may also have more than most.
    const double certain = built_ < sample && built_ < ranks_ ? 16 : 1;
    if (steps <= certain * most_steps) return;
    throw Error(ErrorCode::unsupported,
                schedule.name + " on " + with_commas(ranks_) + " ranks has about " +
                    in_digits(steps / 1e6) + " million steps, which take " +
                    in_digits(steps * bytes_per_step / 1e9) + " GB and " +
                    in_digits(steps * seconds_per_step) +
                    " s to build: use fewer ranks, or ask `tutti cost`, which counts by formula");
  }

 private:
  static constexpr std::uint32_t sample = 48;
  static constexpr double most_steps = 4e8;
  // Measured for rings and meshes of 1,000 to 4,000 ranks.
  static constexpr double bytes_per_step = 44;
  static constexpr double seconds_per_step = 1e-7;

  static std::string in_digits(double number) {
    return with_commas(static_cast<std::uint64_t>(std::ceil(number)));
  }

  std::uint32_t ranks_;
  std::uint32_t built_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t others_ = 0;
};

std::string dimensions_wanted(const Algorithm& algorithm) {
  const auto [least, most] = algorithm.dimensions;
  return least == most ? std::to_string(least)
                       : std::to_string(least) + " or " + std::to_string(most);
}

/// Why the shape of the problem does not fit; empty if it does.
std::string fault_of_shape(const Algorithm& algorithm, const Problem& problem) {
  const std::string need = std::string(algorithm.name) + " needs a shape of " +
                           dimensions_wanted(algorithm) + " dimensions for " +
                           std::to_string(problem.ranks) + " ranks";
  const std::string cure = "; use --shape " + to_string(squarest(problem.ranks));
  const std::size_t count = problem.shape.dimensions.size();
  if (problem.shape.empty()) return need + cure;
  if (count < algorithm.dimensions.least || count > algorithm.dimensions.most) {
    return need + ", but " + to_string(problem.shape) + " has " + std::to_string(count) + cure;
  }
  if (problem.shape.size() != problem.ranks) {
    return need + ", but " + to_string(problem.shape) + " is for " +
           std::to_string(problem.shape.size()) + " ranks" + cure;
  }
  return "";
}

/// Adds the traits of a schedule of the smallest supported number of ranks that is not less than
/// this.
void add_traits(const Algorithm& algorithm, std::uint32_t least_ranks, ScheduleTraits& all) {
  for (std::uint32_t ranks = least_ranks; ranks < 2 * least_ranks; ++ranks) {
    const Problem problem{.ranks = ranks,
                          .shape = algorithm.needs_shape() ? squarest(ranks) : Shape{}};
    if (!algorithm.refusal(problem).empty()) continue;
    const ScheduleTraits one = traits_of(algorithm.schedule(problem));
    all.keeps_data |= one.keeps_data;
    all.copies = std::max(all.copies, one.copies);
    all.needs_counts |= one.needs_counts;
    all.joins_chunks |= one.joins_chunks;
    all.repeats_pairs |= one.repeats_pairs;
    return;
  }
}

/// Among two ranks trees coincide. 18 is even but no power of two, and enough for messages that
/// come late, such as the second one of parallel trees to the same rank.
ScheduleTraits derived_traits(const Algorithm& algorithm) {
  // With a large value, what the usual one shows may take more ranks than are tried.
  ScheduleTraits traits;
  if (algorithm.name != algorithm.row_name()) {
    traits = tutti::algorithm(algorithm.row_name()).traits();
  }
  for (const std::uint32_t ranks : {2U, 18U}) add_traits(algorithm, ranks, traits);
  traits.folds_in_rank_order = algorithm.folds_in_rank_order;
  return traits;
}

ForkSafeMutex deriving_traits;

}  // namespace

/// Derived without the lock; of several threads that derive the same, one is noted.
const ScheduleTraits& Algorithm::traits() const {
  static auto& known = *new std::unordered_map<std::string_view, ScheduleTraits>();
  {
    const std::lock_guard lock(deriving_traits);
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
  }
  const ScheduleTraits traits = derived_traits(*this);
  const std::lock_guard lock(deriving_traits);
  return known.emplace(name, traits).first->second;
}

std::string Algorithm::refusal(const Problem& problem) const {
  const std::string wrong_shape = needs_shape() ? fault_of_shape(*this, problem) : "";
  if (!wrong_shape.empty() || supports == nullptr || supports(completed(problem))) {
    return wrong_shape;
  }
  return std::string(name) + " is for " + std::string(limits) + ", not for " +
         std::to_string(problem.ranks) +
         (problem.shape.empty() ? "" : " in the shape " + to_string(problem.shape));
}

Problem Algorithm::completed(Problem problem) const {
  problem.values = values;
  return problem;
}

std::uint64_t Algorithm::chunk_count(const Problem& problem) const {
  return chunks(completed(problem));
}

Contract Algorithm::contract(const Problem& problem) const {
  require(*this, problem);
  const Contract contract{.collective = collective,
                          .ranks = problem.ranks,
                          .root = has_root(collective) ? problem.root : Rank{0},
                          .chunks = problem.ranks == 0 ? 0 : chunk_count(problem)};
  contract.check();
  return contract;
}

Program Algorithm::program(const Problem& problem, Rank self) const {
  (void)contract(problem);
  if (self >= problem.ranks) {
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(self) + " is not one of the " +
                    std::to_string(problem.ranks) + " ranks of " + std::string(name));
  }
  return build(completed(problem), self);
}

Schedule Algorithm::schedule(const Problem& problem) const {
  Schedule schedule{.name = std::string(name), .contract = contract(problem), .programs = {}};
  schedule.programs.reserve(problem.ranks);
  const Problem whole = completed(problem);
  SizeCheck size(schedule.contract);
  for (std::uint32_t r = 0; r < problem.ranks; ++r) {
    schedule.programs.push_back(build(whole, r));
    size.add(schedule, schedule.programs.back());
  }
  return schedule;
}

std::span<const Algorithm> algorithms(Collective collective) {
  const auto all = algorithms();
  const auto is_one = [&](const Algorithm& each) { return each.collective == collective; };
  const auto first = std::find_if(all.begin(), all.end(), is_one);
  const auto last = std::find_if_not(first, all.end(), is_one);
  return {first, last};
}

namespace {

const Algorithm* find_row(std::string_view name) {
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Algorithm& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Algorithm& row_named(std::string_view name) {
  if (const Algorithm* const row = find_row(name)) return *row;
  if (const auto known = full_name(name)) return *find_row(*known);
  std::vector<std::string_view> names;
  for (const Algorithm& each : algorithms()) names.push_back(each.name);
  throw Error(ErrorCode::invalid_argument, "no algorithm is called '" + std::string(name) + "'." +
                                               did_you_mean(name, names) +
                                               " 'tutti list' shows them all.");
}

/// "k from 2 to 1024 (usually 4)"
std::string range_of(const AlgorithmParameter& parameter) {
  return std::string(parameter.name) + " from " + std::to_string(parameter.least) + " to " +
         std::to_string(parameter.most) + " (usually " + std::to_string(parameter.usual) + ")";
}

/// What can be written after the name of the algorithm.
std::string parameters_of(const Algorithm& row) {
  if (row.parameters.empty()) return "it has no parameters";
  std::string text = "it has";
  for (const AlgorithmParameter& each : row.parameters) {
    text += (&each == row.parameters.data() ? " " : ", ") + range_of(each);
  }
  const AlgorithmParameter& first = row.parameters.front();
  return text + "; write, for example, " + std::string(row.name) + ":" + std::string(first.name) +
         "=" + std::to_string(first.tried.empty() ? first.usual : first.tried.front());
}

/// One of the words after the name, "k=4". Sets its value.
void read_value(const Algorithm& row, std::string_view word, ParameterValues& values) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const AlgorithmParameter& parameter = row.parameters[i];
    if (parameter.name != key || equals == std::string_view::npos) continue;
    const std::string_view digits = word.substr(equals + 1);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc{} && end == digits.data() + digits.size() && value >= parameter.least &&
        value <= parameter.most) {
      values[i] = value;
      return;
    }
    throw Error(ErrorCode::invalid_argument, "'" + std::string(word) + "' is not possible for " +
                                                 std::string(row.name) + ": " + parameters_of(row));
  }
  throw Error(ErrorCode::invalid_argument, "'" + std::string(word) + "' is no parameter of " +
                                               std::string(row.name) + ": " + parameters_of(row));
}

/// An algorithm whose parameters have other values than usual. Its name refers to `text`.
struct Adjusted {
  std::string text;
  Algorithm algorithm;
};

ForkSafeMutex making_variants;

/// Callers keep references to algorithms and their names, also signal handlers. So an adjusted
/// algorithm stays until the process ends. Their number is bounded by that of the valid values.
const Algorithm& variant_of(const Algorithm& row, const ParameterValues& values) {
  if (values == row.values) return row;
  std::string text(row.name);
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    if (values[i] == row.parameters[i].usual) continue;
    text += ":" + std::string(row.parameters[i].name) + "=" + std::to_string(values[i]);
  }
  static auto& made = *new std::list<Adjusted>();
  const std::lock_guard lock(making_variants);
  const auto found = std::find_if(made.begin(), made.end(),
                                  [&](const Adjusted& each) { return each.text == text; });
  if (found != made.end()) return found->algorithm;
  Adjusted& added = made.emplace_back(Adjusted{std::move(text), row});
  added.algorithm.name = added.text;
  added.algorithm.values = values;
  return added.algorithm;
}

}  // namespace

const Algorithm& algorithm(std::string_view name) {
  const std::size_t colon = name.find(':');
  const Algorithm& row = row_named(name.substr(0, colon));
  ParameterValues values = row.values;
  std::string_view rest = colon == std::string_view::npos ? "" : name.substr(colon);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(':'));
    read_value(row, word, values);
    rest.remove_prefix(word.size());
  }
  return variant_of(row, values);
}

std::vector<const Algorithm*> variants(const Algorithm& row) {
  std::vector<const Algorithm*> found{&row};
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    for (const std::uint32_t value : row.parameters[i].tried) {
      ParameterValues values = row.values;
      values[i] = value;
      found.push_back(&variant_of(algorithm(row.row_name()), values));
    }
  }
  return found;
}

}  // namespace tutti
