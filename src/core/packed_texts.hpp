#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// Texts of any bytes as one, each after its length: "5:hello2:hi".
[[nodiscard]] std::string pack(const std::vector<std::string>& texts);
/// The inverse; none if the text is no such.
[[nodiscard]] std::optional<std::vector<std::string>> unpack(const std::string& packed);

}  // namespace tutti
