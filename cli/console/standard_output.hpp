#pragma once

#include <signal.h>

namespace tutti::cli {

/// Lets a write that the system refuses be an error that is told, where a signal would end the
/// process without a word: a file that grows beyond its limit (ulimit -f, SIGXFSZ).
void take_write_errors();

/// What SIGXFSZ did before: programs that this one starts get it back.
[[nodiscard]] const struct sigaction& file_size_action_before();

/// Writes what is still to be written to standard output. False, with a line on standard error, if
/// that or anything before it did not arrive: the disk is full, say.
[[nodiscard]] bool finish_standard_output();

}  // namespace tutti::cli
