#include "core/nearest.hpp"

#include <algorithm>
#include <vector>

namespace tutti {
namespace {

/// Optimal string alignment distance, row by row.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  std::string_view best;
  // The comparison takes time proportional to the product of both lengths, and no name is that
  // long.
  constexpr std::size_t longest = 200;
  if (text.size() > longest) return best;
  // More than two edits per five letters mean a different word, not a typing error.
  std::size_t fewest = text.size() * 2 / 5;
  for (const std::string_view candidate : candidates) {
    const auto [shorter, longer] = std::minmax({text.size(), candidate.size()});
    if (longer - shorter > fewest) continue;
    const std::size_t distance = edits(text, candidate);
    if (distance < fewest || (distance == fewest && best.empty())) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest(text, candidates);
  if (best.empty()) return "";
  return " Did you mean '" + std::string(best) + "'?";
}

}  // namespace tutti
