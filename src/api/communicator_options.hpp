#pragma once

#include <tutti/communicator_options.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {

/// What a program says about a communicator of so many ranks, on top of what it has otherwise.
/// Throws invalid_argument that names the option and what it may be.
void apply(const CommunicatorOptions& options, std::uint32_t ranks, CommunicatorSettings& settings);

/// The settings of a new group: the environment's, and on top of them these.
[[nodiscard]] CommunicatorSettings settings_of(const CommunicatorOptions& options,
                                               std::uint32_t ranks);

/// The same for a communicator that is made from another. Throws invalid_argument for an option
/// that only a new group can have.
void apply_to_part(const CommunicatorOptions& options, std::uint32_t ranks,
                   CommunicatorSettings& settings);

}  // namespace tutti
