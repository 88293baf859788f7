#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

namespace tutti {

/// The cores that this thread may run on, each as the set of its hardware threads, in the order of
/// the sockets and of the cores in them. Throws unsupported if the system does not tell.
[[nodiscard]] std::vector<cpu_set_t> allowed_cores();

/// Divides the cores evenly between the ranks of a host: rank r gets the r-th share, neighbouring
/// cores. Empty if there are fewer cores than ranks, or if the system does not tell.
[[nodiscard]] std::vector<cpu_set_t> core_shares(std::uint32_t ranks);

/// Binds this thread.
void stay_on(const cpu_set_t& core);

}  // namespace tutti
