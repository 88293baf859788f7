#pragma once

#include <functional>
#include <string>

#include <tutti/communicator.hpp>

#include "api/group/fabric.hpp"

namespace tutti::test {

/// Where processes that one has forked find each other. Made before the first fork.
class Meeting {
 public:
  Meeting();

  /// The communicator of all, once all have called this.
  [[nodiscard]] Communicator join(std::uint32_t rank, std::uint32_t ranks,
                                  const FabricSettings& fabric, std::chrono::milliseconds timeout);

 private:
  Socket listener_;
  Endpoint root_;
};

/// What a rank that is a process of its own does; returns what is wrong, if anything.
using ProcessWork = std::function<std::string(Communicator&)>;

/// Forks `ranks` processes that form a communicator, lets each work, and returns what is wrong in
/// any of them: what its work returned or threw, or how it ended. With `ranks_per_host` they are
/// told that so many in a row are on one host each.
[[nodiscard]] std::string run_processes(std::uint32_t ranks, Way way, const ProcessWork& work,
                                        std::uint32_t ranks_per_host = 0,
                                        const Secret& secret = {.bytes = "s"});

}  // namespace tutti::test
