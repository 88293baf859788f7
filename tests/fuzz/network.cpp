#include <tutti/network/network_json.hpp>

#include "fuzz/finding.hpp"
#include "fuzz/network_judge.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {

void try_network(std::string_view input) {
  if (const auto network = attempt([&] { return network_from_json(input); })) judge(*network);
}

}  // namespace tutti::test
