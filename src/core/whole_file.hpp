#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// Writes a file as a whole, in place of one of that name: on an error the old file stays. The new
/// one has no name until it is complete, so a process that is killed leaves nothing behind. Two
/// exceptions leave PATH.PID.new: a process that is killed just as it replaces an old file, since a
/// file without a name cannot replace one (that file is complete), and one that is killed while it
/// writes on a file system without unnamed files, such as NFS. Returns an errno, or 0.
[[nodiscard]] int write_whole_file(const std::string& path, std::string_view text);

}  // namespace tutti
