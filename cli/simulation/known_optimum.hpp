#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tutti/network/network.hpp>
#include <tutti/network/optimum.hpp>

namespace tutti::cli {

/// The optimum of a network, or the reason why it is not known.
struct KnownOptimum {
  std::optional<Optimum> optimum{};
  std::string why_not{};
};

/// The optimum for ranks with so many ports; 0: any number. Does not compute an optimum that would
/// take minutes or is not exact: the callers show it beside other results.
[[nodiscard]] KnownOptimum known_optimum(const Network& network, std::uint32_t ports = 0);

}  // namespace tutti::cli
