#pragma once

#include <optional>
#include <string>
#include <vector>

/// Regular expressions. std::regex is used in pattern.cpp only: each file that instantiates it
/// takes seconds longer to compile.
namespace tutti::test {

/// The whole match, then each group in parentheses.
using Match = std::vector<std::string>;

/// No value if the whole text does not match.
[[nodiscard]] std::optional<Match> match(const std::string& text, const std::string& pattern);
/// The first match in the text, if there is one.
[[nodiscard]] std::optional<Match> search(const std::string& text, const std::string& pattern);
/// All matches in the text.
[[nodiscard]] std::vector<Match> search_all(const std::string& text, const std::string& pattern);
/// The text with all matches removed.
[[nodiscard]] std::string without(const std::string& text, const std::string& pattern);

}  // namespace tutti::test
