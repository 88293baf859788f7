#pragma once

/// For sources that make JSON values. A header for which core/json.hpp is enough includes that.
#include <nlohmann/json.hpp>

#include "core/json.hpp"
