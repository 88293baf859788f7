#pragma once

#include <cstdint>
#include <string>

/// Files as a whole. A device or a pipe may never end, so there is a limit to what is read.
namespace tutti {

/// Far more than people write, and little beside the memory of a machine.
inline constexpr std::uint64_t most_file_bytes = std::uint64_t{512} << 20;
/// The same of settings.
inline constexpr std::uint64_t most_settings_bytes = std::uint64_t{16} << 20;

/// What the file holds. Throws invalid_argument that names the file and the cause, or the limit if
/// the file is longer.
[[nodiscard]] std::string read_file(const std::string& path, std::uint64_t most = most_file_bytes);
/// The same of standard input.
[[nodiscard]] std::string read_standard_input(std::uint64_t most = most_file_bytes);

}  // namespace tutti
