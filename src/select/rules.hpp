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

/// An inclusive range.
struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = ~std::uint64_t{0};

  [[nodiscard]] bool contains(std::uint64_t number) const {
    return least <= number && number <= most;
  }
  friend bool operator==(const Range&, const Range&) = default;
};

/// A user's rule for some calls: use one of these methods, or none of them.
///
/// The methods to use may include schedules. A schedule is for one number of ranks and one root, so
/// a rule of schedules only applies to calls that one of them fits.
struct Rule {
  Collective collective{};
  Range bytes{};  ///< Size of the larger buffer.
  Range ranks{};
  std::optional<Pairs> pairs{};  ///< Empty: any.
  bool excludes = false;
  std::vector<Method> methods{};
  std::string source{};  ///< For humans: "TUTTI_ALGO", "line 3 of rules.txt".

  [[nodiscard]] bool names(const Method& method) const;
  [[nodiscard]] bool fits(const Question& question, std::uint32_t ranks, const Reach& reach) const;

  friend bool operator==(const Rule&, const Rule&) = default;
};

/// A list of rules. For each call the first rule that fits applies.
class Rules {
 public:
  Rules() = default;
  explicit Rules(std::vector<Rule> rules) : rules_(std::move(rules)) {}

  /// Null if no rule fits.
  [[nodiscard]] const Rule* find(const Question& question, std::uint32_t ranks,
                                 const Reach& reach) const;
  [[nodiscard]] const std::vector<Rule>& all() const { return rules_; }
  /// Appends other rules.
  void add(const Rules& others);
  /// A hash that differs between different rules.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  std::vector<Rule> rules_;
};

/// Parses TUTTI_ALGO, a list: "allreduce/ring,broadcast/chain:segments=8", "^allreduce/ring",
/// "allreduce/mesh@-4KiB,allreduce/ring@1MiB-", "file:ring4.json", or "ring" for every collective
/// that has one. Also reads lists of bare names, "allreduce:ring,mesh;broadcast:^chain". Throws
/// invalid_argument that lists the valid names, or names the file of a schedule that cannot be run.
[[nodiscard]] Rules parse_algorithm_rules(std::string_view text, const std::string& source);

/// Parses a file with one rule per line: "allreduce bytes=1MiB- ranks=4-8 pairs=host use ring".
/// Paths of schedules are relative to the file. Throws invalid_argument that names the line.
[[nodiscard]] Rules parse_rules_file(std::string_view text, const std::string& path);

/// The rules of TUTTI_ALGO, then those of the file named by TUTTI_RULES. Throws invalid_argument.
[[nodiscard]] Rules rules_from_environment();

}  // namespace tutti
