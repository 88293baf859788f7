#include "cli/launch/environment.hpp"

#include <unistd.h>

#include <algorithm>

namespace tutti::cli {
namespace {

bool names(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

}  // namespace

std::vector<char*> exec_pointers(std::vector<std::string>& texts) {
  std::vector<char*> found;
  found.reserve(texts.size() + 1);
  for (std::string& each : texts) found.push_back(each.data());
  found.push_back(nullptr);
  return found;
}

Environment Environment::own() {
  Environment environment;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    environment.entries_.emplace_back(*each);
  }
  return environment;
}

std::string Environment::value(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const std::string& each) { return names(each, name); });
  return found == entries_.end() ? "" : found->substr(name.size() + 1);
}

void Environment::set(const std::string& name, const std::string& value) {
  remove(name);
  entries_.push_back(name + "=" + value);
}

void Environment::remove(std::string_view name) {
  std::erase_if(entries_, [&](const std::string& each) { return names(each, name); });
}

}  // namespace tutti::cli
