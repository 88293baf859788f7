#pragma once

namespace tutti {

/// True if the scheduler has recently given this thread's core to another thread while this one
/// wanted to run. Costs a system call.
[[nodiscard]] bool was_preempted_lately();

}  // namespace tutti
