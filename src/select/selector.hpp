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

/// One way to do what is asked for.
struct Candidate {
  Method method;
  Shape shape{};
  Expectation expected{};
  std::string barred{};  ///< By which rule it may not be taken; empty if it may.
};

/// Why a call that asks for the order of ranks cannot be done by this method, with those that can
/// do it; empty if it can, or if the call does not ask.
[[nodiscard]] std::string refusal_of_folds(const Method& method, bool one_fold);

/// Takes the algorithm that is expected to be the fastest, among those that the user allows.
/// Schedules take part where a rule or the profile names them and they fit the call.
///
/// For one thread at a time.
class Selector {
 public:
  Selector(std::shared_ptr<const Forecast> forecast, Rules rules);

  /// Another for the same party, which another thread may ask.
  [[nodiscard]] Selector twin() const { return {forecast_, rules_}; }

  /// Sizes between which hardly anything changes are decided together, and only once. Throws
  /// unsupported if the rules leave nothing that can be done.
  [[nodiscard]] const Candidate& choose(const Question& question);

  /// All that could be done, the fastest first, those that rules bar last.
  [[nodiscard]] std::vector<Candidate> candidates(const Question& question) const;

  [[nodiscard]] const Forecast& forecast() const { return *forecast_; }

 private:
  [[nodiscard]] const Rule* rule_for(const Question& question) const;
  [[nodiscard]] Problem problem_for(const Method& method, const Question& question) const;
  [[nodiscard]] bool is_possible(const Method& method, const Question& question,
                                 const Rule* rule) const;
  [[nodiscard]] std::vector<Method> methods_for(const Question& question, const Rule* rule) const;
  [[nodiscard]] Candidate decide(const Question& question) const;

  std::shared_ptr<const Forecast> forecast_;
  Rules rules_;
  bool has_schedules_ = false;  // Among the rules, or in the profile.
  std::unordered_map<std::uint64_t, Candidate> decided_;
  std::unordered_map<std::uint64_t, Candidate> decided_for_one_fold_;
};

}  // namespace tutti
