#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "select/method.hpp"
#include "select/question.hpp"
#include "select/reach.hpp"

namespace tutti {

/// From one number to another, both included.
struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = ~std::uint64_t{0};

  [[nodiscard]] bool contains(std::uint64_t number) const {
    return least <= number && number <= most;
  }
  friend bool operator==(const Range&, const Range&) = default;
};

/// What a user says about the choice of algorithms for some calls: one of these, or none of these.
///
/// A schedule may stand among the algorithms to use. It is for one number of ranks and one root, so
/// a rule of schedules alone holds only for calls that one of them fits.
struct Rule {
  Collective collective{};
  Range bytes{};  ///< Of the larger buffer.
  Range ranks{};
  std::optional<Pairs> pairs{};  ///< None: however they reach each other.
  bool excludes = false;
  std::vector<Method> methods{};
  std::string source{};  ///< For people: "TUTTI_ALGO", "line 3 of rules.txt".

  [[nodiscard]] bool names(const Method& method) const;
  [[nodiscard]] bool fits(const Question& question, std::uint32_t ranks, const Reach& reach) const;

  friend bool operator==(const Rule&, const Rule&) = default;
};

/// Rules; for each call the first that fits it holds.
class Rules {
 public:
  Rules() = default;
  explicit Rules(std::vector<Rule> rules) : rules_(std::move(rules)) {}

  /// Null if none fits.
  [[nodiscard]] const Rule* find(const Question& question, std::uint32_t ranks,
                                 const Reach& reach) const;
  [[nodiscard]] const std::vector<Rule>& all() const { return rules_; }
  /// Appends others, which come after these.
  void add(const Rules& others);
  /// A number that differs between rules that differ.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  std::vector<Rule> rules_;
};

/// What TUTTI_ALGO says: "allreduce:ring", "allreduce:mesh@-4KiB,ring@1MiB-;broadcast:^chain",
/// "^ring", "allreduce:file:ring4.json". Throws invalid_argument that lists what is valid, or names
/// the file of a schedule that cannot be run.
[[nodiscard]] Rules parse_algorithm_rules(std::string_view text, const std::string& source);

/// A file of rules, one a line: "allreduce bytes=1MiB- ranks=4-8 pairs=host use ring". Paths of
/// schedules begin in the folder of the file. Throws invalid_argument that names the line.
[[nodiscard]] Rules parse_rules_file(std::string_view text, const std::string& path);

/// The rules of TUTTI_ALGO, and then of the file that TUTTI_RULES names. Throws invalid_argument.
[[nodiscard]] Rules rules_from_environment();

}  // namespace tutti
