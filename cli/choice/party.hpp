#pragma once

#include <cstdint>

#include <tutti/communicator.hpp>

#include "select/forecast.hpp"

namespace tutti::cli {

/// The cores that this process may run on.
[[nodiscard]] std::uint32_t own_cores();

/// So many ranks started on this host, as they would reach each other.
[[nodiscard]] Party local_party(std::uint32_t ranks, Pairs pairs);

/// Those of a communicator. All ranks ask together, and all get the same answer.
[[nodiscard]] Party party_of(Communicator& communicator);

}  // namespace tutti::cli
