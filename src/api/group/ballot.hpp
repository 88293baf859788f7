#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tutti {

/// What a rank says about its own part when the group becomes another.
struct Ballot {
  enum class Subject { shrinks, has_built, has_grown };

  Subject subject = Subject::shrinks;
  bool yes = true;
  std::uint64_t completed = 0;  ///< As the caller of shrink() says.
  std::uint64_t retried = 0;    ///< Calls with retry, as the communicator has counted.

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Ballot read(const std::string& text);
};

/// As the consensus has collected them, by rank.
using Ballots = std::map<std::uint32_t, std::string>;

/// Whether all that were collected say yes to this: some ranks may be a step ahead of the others.
[[nodiscard]] bool all_say(const Ballots& ballots, Ballot::Subject subject);
/// The ballots of the ranks that have completed the same number of calls with retry as the
/// majority; in a tie, as the lowest rank. The other ranks were not heard when the verdict was
/// found: they are a call ahead or behind, so that no call of theirs would match.
[[nodiscard]] Ballots those_in_step(const Ballots& ballots);

}  // namespace tutti
