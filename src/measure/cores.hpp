#pragma once

#include <sched.h>

#include <vector>

namespace tutti::measure {

/// The cores that this process may run on, each as the set of its hardware threads. Throws
/// unsupported if the system does not tell.
[[nodiscard]] std::vector<cpu_set_t> allowed_cores();

}  // namespace tutti::measure
