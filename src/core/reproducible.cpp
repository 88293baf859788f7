#include <algorithm>
#include <array>
#include <string>

#include <tutti/error.hpp>
#include <tutti/reproducible.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

constexpr std::array all{Reproducible::run, Reproducible::order, Reproducible::exact};
constexpr std::array<std::string_view, all.size()> names{"run", "order", "exact"};

}  // namespace

std::span<const Reproducible> reproducible_levels() { return all; }

std::string_view name(Reproducible level) { return names.at(static_cast<std::size_t>(level)); }

Reproducible parse_reproducible(std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return all.at(static_cast<std::size_t>(found - names.begin()));
  throw Error(ErrorCode::invalid_argument,
              "'" + std::string(text) + "' is not a level of reproducibility." +
                  did_you_mean(text, names) + " There are: run order exact.");
}

}  // namespace tutti
