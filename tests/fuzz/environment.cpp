#include "rendezvous/environment.hpp"

#include <algorithm>

#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

/// Reads variables from lines "NAME=value" of a text.
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
  require(launch->rank < launch->size, "the rank is out of range");
  require(launch->timeout.count() > 0, "the timeout is not positive");
  const bool has_address =
      !launch->root_host.empty() || launch->root_fd || !launch->root_name.empty() || launch->pmi_fd;
  require(launch->size == 1 || has_address, "there is no address of rank 0");
  require(launch->job.find_first_of(" \n\t") == std::string::npos,
          "the name of the job contains blanks");
}

}  // namespace tutti::test
