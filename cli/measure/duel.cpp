#include "cli/measure/duel.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::measure {

std::optional<double> crossing(std::span<const Duel> duels) {
  const auto first_wins = [&](std::size_t i) { return duels[i].first < duels[i].second; };
  std::size_t wins = 0;
  for (std::size_t i = 0; i < duels.size(); ++i) wins += first_wins(i) ? 1 : 0;
  // The sizes on the wrong side: without any crossing, and below with a crossing before size `i`.
  std::size_t fewest = std::min(wins, duels.size() - wins);
  std::size_t best = 0;
  std::size_t wins_below = 0;
  for (std::size_t i = 1; i < duels.size(); ++i) {
    wins_below += first_wins(i - 1) ? 1 : 0;
    const std::size_t wins_above = wins - wins_below;
    const std::size_t wrong =
        std::min((i - wins_below) + wins_above, wins_below + (duels.size() - i - wins_above));
    if (wrong >= fewest || first_wins(i - 1) == first_wins(i)) continue;
    fewest = wrong;
    best = i;
  }
  if (best == 0) return std::nullopt;
  const auto lead = [&](std::size_t i) { return std::log(duels[i].first / duels[i].second); };
  const double before = lead(best - 1);
  const double share = before / (before - lead(best));
  return std::exp(std::lerp(std::log(static_cast<double>(duels[best - 1].bytes)),
                            std::log(static_cast<double>(duels[best].bytes)), share));
}

}  // namespace tutti::measure
