#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "select/forecast.hpp"
#include "select/rules.hpp"

namespace tutti {

/// What the choice of an algorithm depends on besides who takes part: only what all ranks know.
struct Question {
  Collective collective{};
  std::uint64_t bytes = 0;  ///< Of the larger buffer.
  Rank root{};
  bool counted = false;   ///< Blocks of different lengths.
  bool one_fold = false;  ///< Only by algorithms that fold all contributions at once.
};

/// One way to do what is asked for.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  Shape shape{};
  Expectation expected{};
  std::string barred{};  ///< By which rule it may not be taken; empty if it may.
};

/// Why a call that asks for the order of ranks cannot be done by this algorithm, with those that
/// can do it; empty if it can, or if the call does not ask.
[[nodiscard]] std::string refusal_of_folds(const Algorithm& algorithm, bool one_fold);

/// Takes the algorithm that is expected to be the fastest, among those that the user allows.
///
/// For one thread at a time.
class Selector {
 public:
  Selector(std::shared_ptr<const Profile> profile, Rules rules, const Party& party);

  /// Another for the same party, which another thread may ask.
  [[nodiscard]] Selector twin() const { return {profile_, rules_, forecast_.party()}; }

  /// Sizes between which hardly anything changes are decided together, and only once. Throws
  /// unsupported if the rules leave nothing that can be done.
  [[nodiscard]] const Candidate& choose(const Question& question);

  /// All that could be done, the fastest first, those that rules bar last.
  [[nodiscard]] std::vector<Candidate> candidates(const Question& question) const;

  [[nodiscard]] const Forecast& forecast() const { return forecast_; }

 private:
  [[nodiscard]] Problem problem_for(const Algorithm& algorithm, const Question& question) const;
  [[nodiscard]] bool is_possible(const Algorithm& algorithm, const Question& question) const;
  [[nodiscard]] Candidate decide(const Question& question) const;

  std::shared_ptr<const Profile> profile_;
  Rules rules_;
  Forecast forecast_;
  std::unordered_map<std::uint64_t, Candidate> decided_;
  std::unordered_map<std::uint64_t, Candidate> decided_for_one_fold_;
};

}  // namespace tutti
