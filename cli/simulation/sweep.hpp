#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::cli {

/// How long each of several algorithms takes at each of several sizes.
struct SimSweep {
  std::string network;
  std::uint32_t ranks = 0;
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> names;
  /// seconds[i][k] is what names[i] takes at sizes[k].
  std::vector<std::vector<double>> seconds;

  /// The fastest at a size.
  [[nodiscard]] std::size_t best(std::size_t size) const;
};

/// From one size to another, each four times the one before.
[[nodiscard]] std::vector<std::uint64_t> sizes_between(std::uint64_t from, std::uint64_t to);

/// A table, the fastest at each size, and where that changes.
[[nodiscard]] std::string sweep_text(const SimSweep& sweep);
[[nodiscard]] std::string sweep_json(const SimSweep& sweep);
/// The crossover chart, as an SVG document.
[[nodiscard]] std::string sweep_svg(const SimSweep& sweep);

}  // namespace tutti::cli
