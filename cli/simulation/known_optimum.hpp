#pragma once

#include <optional>
#include <string>

#include <tutti/network/network.hpp>
#include <tutti/network/optimum.hpp>

namespace tutti::cli {

/// What nobody can beat on a network, if that is known; and else why not.
struct KnownOptimum {
  std::optional<Optimum> optimum{};
  std::string why_not{};
};

/// Leaves out what would take minutes or cannot be told exactly: who asks wants an answer that is
/// mostly about something else.
[[nodiscard]] KnownOptimum known_optimum(const Network& network);

}  // namespace tutti::cli
