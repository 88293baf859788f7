#pragma once

#include <string>
#include <vector>

#include "peers/peer.hpp"

namespace peers {

/// How the common part of every program is called, for its help.
inline constexpr const char* usage =
    "  measure COLLECTIVE --bytes B1,B2,... [--seconds S] [--least N] [--in-place] [--barrier]\n"
    "          [--settings TEXT] [--json]\n"
    "  measure --follow [--settings TEXT]\n"
    "          reads lines COLLECTIVE BYTES SECONDS [dtype=f32] [op=sum] [root=0] [least=N] "
    "[warm=N]\n"
    "          [in-place] [barrier] [check=SEED] and answers each with a line of JSON,\n"
    "          {\"error\": ...} if it cannot\n"
    "  oracle FILE\n"
    "          writes a line for every case and rank: collective dtype op count root rank digest\n";

/// The program itself, on all ranks together: `arguments` are those of the command line without the
/// program's name and whatever chooses among the library's own settings. Returns the exit status.
[[nodiscard]] int run_program(Peer& peer, const std::vector<std::string>& arguments);

}  // namespace peers
