#pragma once

#include <cstdint>
#include <string>

/// Reads whole files. The size is limited, because a device or a pipe may never end.
namespace tutti {

/// Far more than any hand-written file, and small compared with the memory of a machine.
inline constexpr std::uint64_t most_file_bytes = std::uint64_t{512} << 20;
/// The limit for settings.
inline constexpr std::uint64_t most_settings_bytes = std::uint64_t{16} << 20;

/// The contents of the file. Throws invalid_argument that names the file and the cause, or the
/// limit if the file is longer.
[[nodiscard]] std::string read_file(const std::string& path, std::uint64_t most = most_file_bytes);
/// The same for standard input.
[[nodiscard]] std::string read_standard_input(std::uint64_t most = most_file_bytes);

}  // namespace tutti
