#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "select/forecast.hpp"
#include "select/question.hpp"
#include "select/rules.hpp"

namespace tutti {

/// A method that could be chosen, and its expected time.
struct Candidate {
  Method method;
  Shape shape{};
  Expectation expected{};
  std::string barred{};  ///< The rule that excludes it; empty if it is allowed.
};

/// Why this method cannot reduce all contributions in one fold in order of rank, with a list of the
/// algorithms that can; empty if it can, or if `one_fold` is false.
[[nodiscard]] std::string refusal_of_folds(const Method& method, bool one_fold);

/// Chooses the algorithm with the least expected time among those that the rules allow. Schedules
/// are candidates if a rule or the profile names them and they fit the call.
///
/// Not thread-safe.
class Selector {
 public:
  Selector(std::shared_ptr<const Forecast> forecast, Rules rules);

  /// A second selector for the same party, for use by another thread.
  [[nodiscard]] Selector twin() const { return {forecast_, rules_}; }

  /// Sizes that hardly differ share one decision, which is cached. Throws unsupported if the rules
  /// leave no candidate.
  [[nodiscard]] const Candidate& choose(const Question& question);

  /// All candidates by expected time. Those that were never measured, although others were, come
  /// after them; those excluded by rules come last.
  [[nodiscard]] std::vector<Candidate> candidates(const Question& question) const;

  [[nodiscard]] const Forecast& forecast() const { return *forecast_; }

 private:
  [[nodiscard]] const Rule* rule_for(const Question& question) const;
  /// The shapes to try; one empty shape if the method needs none.
  [[nodiscard]] std::vector<Shape> shapes_for(const Method& method) const;
  [[nodiscard]] Problem problem_for(const Shape& shape, const Question& question) const;
  [[nodiscard]] bool is_possible(const Method& method, const Question& question,
                                 const Rule* rule) const;
  [[nodiscard]] std::vector<Method> methods_for(const Question& question, const Rule* rule) const;
  [[nodiscard]] bool takes_long_to_count(const Method& method) const;
  /// The methods that could be chosen, best first; without those that were never measured, unless
  /// `untried`.
  [[nodiscard]] std::vector<Candidate> ways_for(const Question& question, bool untried) const;
  [[nodiscard]] Candidate decide(const Question& question) const;
  /// Where the model cannot tell the best ones apart, moves the one with the fewest flows
  /// to the front.
  void break_tie(std::vector<Candidate>& ways, const Question& question) const;

  std::shared_ptr<const Forecast> forecast_;
  Rules rules_;
  bool has_schedules_ = false;  // True if the rules or the profile name schedules.
  std::unordered_map<std::uint64_t, Candidate> decided_;
  std::unordered_map<std::uint64_t, Candidate> decided_for_one_fold_;
};

}  // namespace tutti
