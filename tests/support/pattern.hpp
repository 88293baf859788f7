#pragma once

#include <optional>
#include <string>
#include <vector>

/// Regular expressions. std::regex does the work, out of sight: every file that uses it takes
/// seconds longer to compile.
namespace tutti::test {

/// What matched: all of it, then each group in parentheses.
using Match = std::vector<std::string>;

/// The whole text; none if it does not match.
[[nodiscard]] std::optional<Match> match(const std::string& text, const std::string& pattern);
/// The first part of the text that matches; none if there is none.
[[nodiscard]] std::optional<Match> search(const std::string& text, const std::string& pattern);
/// All parts that match.
[[nodiscard]] std::vector<Match> search_all(const std::string& text, const std::string& pattern);
/// The text without the parts that match.
[[nodiscard]] std::string without(const std::string& text, const std::string& pattern);

}  // namespace tutti::test
