#include "flight/blame.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {

/// Dumps of several ranks, separated by a line of dashes.
void try_dump(std::string_view input) {
  constexpr std::string_view between = "\n---\n";
  constexpr std::size_t most_dumps = 8;
  std::vector<FlightDump> dumps;
  while (dumps.size() < most_dumps) {
    const std::size_t end = std::min(input.find(between), input.size());
    auto dump = attempt([&] { return parse_dump(input.substr(0, end), "a dump"); });
    if (dump) dumps.push_back(*std::move(dump));
    if (end == input.size()) break;
    input.remove_prefix(end + between.size());
  }
  for (const Blame& blamed : blame(dumps)) {
    require(!blamed.text.empty(), "a verdict has no text");
    require(!name(blamed.verdict).empty(), "a verdict has no name");
  }
}

}  // namespace tutti::test
