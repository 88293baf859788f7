#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::cli {

/// What two algorithms take for one size, in seconds.
struct Duel {
  std::uint64_t bytes = 0;
  double first = 0;
  double second = 0;
};

/// The size at which one overtakes the other: where as few sizes as can be are on the wrong side of
/// it, since measured times may cross more than once by chance. None if one is the faster on nearly
/// all sizes. Requires: in order of size.
[[nodiscard]] std::optional<double> crossing(std::span<const Duel> duels);

/// What the user has asked for.
struct MeasuredCrossover {
  std::string first{};
  std::string second{};
  std::uint32_t ranks = 0;
  std::string pairs = "host";
  std::uint64_t from = 8;
  std::uint64_t to = std::uint64_t{16} << 20;
  bool json = false;
};

/// Lets both run on this host, and prints where they cross by measurement, by the profile and by
/// its model alone. `words` are those of the command line, to start the same again as ranks.
[[nodiscard]] int measure_crossover(const MeasuredCrossover& wanted,
                                    std::vector<std::string> words);

}  // namespace tutti::cli
