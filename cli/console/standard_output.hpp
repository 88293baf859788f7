#pragma once

#include <signal.h>

#include <string>

namespace tutti::cli {

/// Ignores SIGXFSZ, so that a file beyond its limit (ulimit -f) is an error with a message instead
/// of a silent end of the process.
void take_write_errors();

/// The previous action of SIGXFSZ, for programs that this one starts.
[[nodiscard]] const struct sigaction& file_size_action_before();

/// Sends standard output to a file. It gets its name when the output is complete; until then, and
/// if the command fails, a file that had this name before stays as it is. Throws invalid_argument.
void redirect_standard_output(const std::string& path);

/// Flushes standard output, and completes the file that it was sent to or, unless `is_complete`,
/// removes it. Prints a line to standard error and returns false if this or an earlier write
/// failed, for example because the disk is full.
[[nodiscard]] bool finish_standard_output(bool is_complete);

}  // namespace tutti::cli
