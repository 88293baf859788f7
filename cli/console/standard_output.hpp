#pragma once

#include <signal.h>

namespace tutti::cli {

/// Ignores SIGXFSZ, so that a file beyond its limit (ulimit -f) is an error with a message instead
/// of a silent end of the process.
void take_write_errors();

/// The previous action of SIGXFSZ, for programs that this one starts.
[[nodiscard]] const struct sigaction& file_size_action_before();

/// Flushes standard output. Prints a line to standard error and returns false if this or an earlier
/// write failed, for example because the disk is full.
[[nodiscard]] bool finish_standard_output();

}  // namespace tutti::cli
