#include <algorithm>
#include <array>
#include <string>

#include <tutti/error.hpp>

#include "fuzz/target.hpp"

namespace tutti::test {
namespace {

constexpr std::array table{
    Target{"connection", try_connection},
    Target{"handshake", try_handshake},
    Target{"framed_channel", try_framed_channel},
    Target{"rendezvous", try_rendezvous},
    Target{"introduction", try_introduction},
    Target{"control_message", try_control_message},
    Target{"dump", try_dump},
    Target{"schedule", try_schedule},
    Target{"msccl", try_msccl},
    Target{"network", try_network},
    Target{"nccl", try_nccl},
    Target{"spec", try_spec},
    Target{"profile", try_profile},
    Target{"rules", try_rules},
    Target{"words", try_words},
    Target{"environment", try_environment},
};

}  // namespace

std::span<const Target> targets() { return table; }

const Target& target(std::string_view name) {
  const auto* const found = std::find_if(table.begin(), table.end(),
                                         [&](const Target& each) { return each.name == name; });
  if (found == table.end()) {
    throw Error(ErrorCode::invalid_argument,
                "there is no fuzz target '" + std::string(name) +
                    "': an archive of tests/fuzz/corpus needs a row in tests/fuzz/targets.cpp");
  }
  return *found;
}

}  // namespace tutti::test
