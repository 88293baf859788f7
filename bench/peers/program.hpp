#pragma once

#include <string>
#include <vector>

#include "peers/peer.hpp"

namespace peers {

/// The usage text of the common part of every program.
inline constexpr const char* usage =
    "  measure COLLECTIVE --bytes B1,B2,... [--seconds S] [--least N] [--in-place] [--barrier]\n"
    "          [--settings TEXT] [--json]\n"
    "  measure --follow [--settings TEXT]\n"
    "          reads lines COLLECTIVE BYTES SECONDS [dtype=f32] [op=sum] [root=0] [least=N] "
    "[warm=N]\n"
    "          [in-place] [barrier] [check=SEED] and answers each with a line of JSON,\n"
    "          {\"error\": ...} on failure\n"
    "  check   makes a call of every kind and checks its result\n";

/// Runs the program on all ranks together. `arguments` is the command line without the program's
/// name and the library's own settings. Returns the exit status.
[[nodiscard]] int run_program(Peer& peer, const std::vector<std::string>& arguments);

}  // namespace peers
