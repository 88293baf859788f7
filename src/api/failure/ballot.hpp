#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tutti {

/// The vote of a rank when the group shrinks or grows.
struct Ballot {
  enum class Subject { shrinks, has_built, has_grown };

  Subject subject = Subject::shrinks;
  bool yes = true;
  std::uint64_t completed = 0;  ///< As the caller of shrink() passed it.
  std::uint64_t retried = 0;    ///< Completed calls with retry on the communicator.

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Ballot read(const std::string& text);
};

/// The collected ballots, by rank.
using Ballots = std::map<std::uint32_t, std::string>;

/// True if all collected ballots say yes to this subject. Some ranks may be one step ahead of the
/// others and vote on another subject.
[[nodiscard]] bool all_say(const Ballots& ballots, Ballot::Subject subject);
/// The ballots of the ranks that have completed the same number of calls with retry as the
/// majority; in a tie, as the lowest rank. The other ranks did not take part in the verdict. They
/// are a call ahead or behind, so their calls would not match.
[[nodiscard]] Ballots those_in_step(const Ballots& ballots);

}  // namespace tutti
