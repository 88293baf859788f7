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

/// As the council has collected them, by rank.
using Ballots = std::map<std::uint32_t, std::string>;

/// Whether all that were collected say yes to this: some ranks may be a step ahead of the others.
[[nodiscard]] bool all_say(const Ballots& ballots, Ballot::Subject subject);
/// Those who have completed as many calls with retry as most have; of as many on each side, those
/// of the lowest rank. The others were not heard when the verdict was found, and have gone on or
/// stayed behind: nobody can call together with them.
[[nodiscard]] Ballots those_in_step(const Ballots& ballots);

}  // namespace tutti
