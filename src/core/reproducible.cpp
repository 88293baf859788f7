#include <algorithm>
#include <array>
#include <string>

#include <tutti/error.hpp>
#include <tutti/reproducible.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

constexpr std::array all_levels{Reproducible::run, Reproducible::order, Reproducible::exact};
constexpr std::array<std::string_view, all_levels.size()> level_names{"run", "order", "exact"};

}  // namespace

std::span<const Reproducible> reproducible_levels() { return all_levels; }

std::string_view name(Reproducible level) {
  return level_names.at(static_cast<std::size_t>(level));
}

Reproducible parse_reproducible(std::string_view text) {
  const auto found = std::find(level_names.begin(), level_names.end(), text);
  if (found != level_names.end())
    return all_levels.at(static_cast<std::size_t>(found - level_names.begin()));
  throw Error(ErrorCode::invalid_argument,
              "'" + std::string(text) + "' is not a level of reproducibility." +
                  did_you_mean(text, level_names) + " There are: run order exact.");
}

}  // namespace tutti
