#pragma once

#include <sched.h>

#include <vector>

namespace tutti::cli {

/// The cores that this process may run on, each as the set of its hardware threads.
[[nodiscard]] std::vector<cpu_set_t> allowed_cores();

}  // namespace tutti::cli
