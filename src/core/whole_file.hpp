#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// Writes a file as a whole, in place of one of that name: on an error the old file stays. The new
/// one has no name until it is complete, so a process that is killed leaves nothing behind.
/// Returns an errno, or 0.
[[nodiscard]] int write_whole_file(const std::string& path, std::string_view text);

}  // namespace tutti
