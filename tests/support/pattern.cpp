#include "support/pattern.hpp"

#include <regex>

namespace tutti::test {
namespace {

Match groups_of(const std::smatch& found) { return {found.begin(), found.end()}; }

}  // namespace

std::optional<Match> match(const std::string& text, const std::string& pattern) {
  std::smatch found;
  if (!std::regex_match(text, found, std::regex(pattern))) return std::nullopt;
  return groups_of(found);
}

std::optional<Match> search(const std::string& text, const std::string& pattern) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(pattern))) return std::nullopt;
  return groups_of(found);
}

std::vector<Match> search_all(const std::string& text, const std::string& pattern) {
  std::vector<Match> all;
  const std::regex compiled(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), compiled), end; at != end; ++at) {
    all.push_back(groups_of(*at));
  }
  return all;
}

std::string without(const std::string& text, const std::string& pattern) {
  return std::regex_replace(text, std::regex(pattern), "");
}

}  // namespace tutti::test
