#pragma once

#include <tutti/communicator_options.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {

/// Overrides the settings of a communicator of `ranks` ranks by the options that are set. Throws
/// invalid_argument that names the option and its allowed values.
void apply(const CommunicatorOptions& options, std::uint32_t ranks, CommunicatorSettings& settings);

/// The settings of a new group: those of the environment, overridden by the options.
[[nodiscard]] CommunicatorSettings settings_of(const CommunicatorOptions& options,
                                               std::uint32_t ranks);

/// The same as apply() for a communicator made from another. Throws invalid_argument for an option
/// that is for new groups only.
void apply_to_part(const CommunicatorOptions& options, std::uint32_t ranks,
                   CommunicatorSettings& settings);

}  // namespace tutti
