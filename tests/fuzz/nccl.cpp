#include <tutti/network/network_xml.hpp>

#include "fuzz/finding.hpp"
#include "fuzz/network_judge.hpp"
#include "fuzz/target.hpp"

namespace tutti::test {

void try_nccl(std::string_view input) {
  for (const std::uint32_t hosts : {1U, 3U}) {
    const auto network = attempt([&] { return network_from_xml(input, {.hosts = hosts}); });
    if (network) judge(*network);
  }
}

}  // namespace tutti::test
