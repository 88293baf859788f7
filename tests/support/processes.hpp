#pragma once

#include <functional>
#include <string>

#include <tutti/communicator.hpp>

#include "api/fabric.hpp"

namespace tutti::test {

/// What a rank that is a process of its own does; returns what is wrong, if anything.
using ProcessWork = std::function<std::string(Communicator&)>;

/// Forks `ranks` processes that form a communicator, lets each work, and returns what is wrong in
/// any of them: what its work returned or threw, or how it ended. With `ranks_per_host` they are
/// told that so many in a row are on one host each.
[[nodiscard]] std::string run_processes(std::uint32_t ranks, Way way, const ProcessWork& work,
                                        std::uint32_t ranks_per_host = 0,
                                        const Secret& secret = {.bytes = "s"});

}  // namespace tutti::test
