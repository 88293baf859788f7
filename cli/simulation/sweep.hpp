#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json_value.hpp"

namespace tutti::cli {

/// The times of several algorithms at several sizes.
struct SimSweep {
  std::string network;
  std::string rules;   ///< See rules_text(),
  Json rules_as_json;  ///< and rules_json().
  std::uint32_t ranks = 0;
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> names;
  /// seconds[i][k] is the time of names[i] at sizes[k].
  std::vector<std::vector<double>> seconds;

  /// The fastest at a size.
  [[nodiscard]] std::size_t best(std::size_t size) const;
};

/// Sizes from one to another, each four times the one before.
[[nodiscard]] std::vector<std::uint64_t> sizes_between(std::uint64_t from, std::uint64_t to);

/// A table with the fastest algorithm at each size, and the sizes where it changes.
[[nodiscard]] std::string sweep_text(const SimSweep& sweep);
[[nodiscard]] std::string sweep_json(const SimSweep& sweep);
/// The crossover chart, as an SVG document.
[[nodiscard]] std::string sweep_svg(const SimSweep& sweep);

}  // namespace tutti::cli
