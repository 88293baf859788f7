#pragma once

#include <functional>

namespace tutti::measure {

/// Rank 0 calls it with the share of the work that is done, from 0 to 1. May be empty.
using Progress = std::function<void(double share)>;

}  // namespace tutti::measure
