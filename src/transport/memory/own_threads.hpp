#pragma once

namespace tutti {

/// True if, in the last few milliseconds, the scheduler has taken this thread's core away while
/// other threads of this process were running: then one of them probably has it now and then.
/// Costs a system call.
///
/// A thread of another process does not count. It gets its share of the core anyway, and would get
/// more than that from a rank that yields.
[[nodiscard]] bool own_threads_want_core();

}  // namespace tutti
