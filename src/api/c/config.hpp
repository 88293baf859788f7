#pragma once

#include <tutti/communicator_options.hpp>
#include <tutti/tutti.h>

namespace tutti {

/// A config in C++; NULL is none. Throws invalid_argument that names what cannot be right.
[[nodiscard]] CommunicatorOptions options_of(const tuttiConfig_t* config);

}  // namespace tutti
