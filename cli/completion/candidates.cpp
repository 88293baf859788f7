#include "cli/completion/candidates.hpp"

#include <algorithm>

#include <tutti/network/generator.hpp>
#include <tutti/schedule/algorithm.hpp>

namespace tutti::cli {
namespace {

using Words = std::vector<std::string>;

/// What the value of an option is, by the word that help shows for it.
Words values_of(const DescribedOption& option) {
  Words found = option.choices;
  const std::string shown = option.value.substr(0, option.value.find_first_of(" ."));
  if (shown == "NETWORK") {
    for (const Generator& each : generators()) found.emplace_back(each.example);
  }
  const bool algorithm = shown == "ALGORITHM" || shown == "NAME";
  if (algorithm || shown == "COLLECTIVE") {
    for (const Collective each : collectives()) found.emplace_back(name(each));
  }
  if (algorithm) {
    for (const Algorithm& each : algorithms()) found.emplace_back(each.name);
  }
  return found;
}

const DescribedOption* find_option(const Description& command, const std::string& word) {
  for (const DescribedOption& each : command.options) {
    const bool named = std::find(each.names.begin(), each.names.end(), word) != each.names.end();
    if (!each.positional && named) return &each;
  }
  return nullptr;
}

/// True if the option's value is the next word.
bool takes_next(const DescribedOption& option) {
  return !option.value.empty() && !option.value.starts_with("[=");
}

Words names_of_options(const Description& command) {
  Words found;
  for (const DescribedOption& each : command.options) {
    if (!each.positional) found.insert(found.end(), each.names.begin(), each.names.end());
  }
  return found;
}

Words candidates_of(const Description& command, const std::string& before,
                    const std::string& last) {
  const DescribedOption* const option = find_option(command, before);
  if (option != nullptr && takes_next(*option)) return values_of(*option);
  if (last.starts_with('-')) return names_of_options(command);
  Words found;
  for (const Description& each : command.commands) found.push_back(each.name());
  for (const DescribedOption& each : command.options) {
    if (!each.positional) continue;
    const Words values = values_of(each);
    found.insert(found.end(), values.begin(), values.end());
  }
  return found;
}

}  // namespace

Words candidates(const Description& root, const Words& words) {
  const std::string last = words.empty() ? "" : words.back();
  const Description* command = &root;
  std::string before;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool help = i == 0 && words[i] == "help";
    if (const Description* const next = help ? nullptr : command->find(words[i])) command = next;
    before = words[i];
  }
  Words found = candidates_of(*command, before, last);
  std::erase_if(found, [&](const std::string& each) { return !each.starts_with(last); });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace tutti::cli
