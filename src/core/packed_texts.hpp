#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// Joins texts of any bytes into one, each preceded by its length: "5:hello2:hi".
[[nodiscard]] std::string pack(const std::vector<std::string>& texts);
/// The inverse of pack(); no value if the text is malformed.
[[nodiscard]] std::optional<std::vector<std::string>> unpack(const std::string& packed);

}  // namespace tutti
