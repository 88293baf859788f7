#include "rendezvous/environment.hpp"

#include <algorithm>

#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

/// The variables that a text has as lines: "NAME=value".
Lookup lookup_in(std::string_view text) {
  return [text](const char* variable) -> std::optional<std::string> {
    const std::string wanted = std::string(variable) + "=";
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.starts_with(wanted)) return std::string(line.substr(wanted.size()));
    }
    return std::nullopt;
  };
}

}  // namespace

void try_environment(std::string_view input) {
  const auto launch = attempt([&] { return read_environment(lookup_in(input)); });
  if (!launch) return;
  require(launch->rank.index() < launch->size, "a rank is none");
  require(launch->timeout.count() > 0, "a timeout leaves no time");
  const bool is_told_where =
      !launch->root_host.empty() || launch->root_fd || !launch->root_name.empty() || launch->pmi_fd;
  require(launch->size == 1 || is_told_where, "nothing tells where rank 0 is");
  require(launch->job.find_first_of(" \n\t") == std::string::npos, "a job's name has blanks");
}

}  // namespace tutti::test
