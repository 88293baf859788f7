#pragma once

#include <tutti/communicator_options.hpp>
#include <tutti/tutti.h>

namespace tutti {

/// Converts a config to C++. NULL gives the defaults. Throws invalid_argument that names the
/// invalid member.
[[nodiscard]] CommunicatorOptions options_of(const tuttiConfig_t* config);

}  // namespace tutti
