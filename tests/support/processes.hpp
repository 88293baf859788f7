#pragma once

#include <functional>
#include <memory>
#include <string>

#include <tutti/communicator.hpp>
#include <tutti/exchange.hpp>

#include "api/group/fabric.hpp"

namespace tutti::test {

/// The transports that ranks may use.
enum class Way {
  automatic,  ///< Memory within a host, TCP between hosts.
  memory,     ///< Memory, or an error.
  tcp,        ///< TCP even within a host.
};
/// As in FabricSettings::transport.
[[nodiscard]] std::string choice_of(Way way);

/// The meeting point of forked processes. Made before the first fork.
class Meeting {
 public:
  Meeting();

  /// An exchange of this rank with the others. Each process has one.
  [[nodiscard]] std::unique_ptr<Exchange> exchange(std::uint32_t rank, std::uint32_t ranks);

  /// Returns the communicator of all ranks when all have called this.
  [[nodiscard]] Communicator join(std::uint32_t rank, std::uint32_t ranks,
                                  const FabricSettings& fabric, std::chrono::milliseconds timeout);

 private:
  Socket listener_;
  Endpoint root_;
};

/// The work of a rank in its own process; returns an error, or an empty text.
using ProcessWork = std::function<std::string(Communicator&)>;

/// Forks `ranks` processes that form a communicator, runs the work in each, and returns all errors:
/// what the work returned or threw, or how a process ended. With `ranks_per_host`, that many
/// consecutive ranks are on one simulated host.
[[nodiscard]] std::string run_processes(std::uint32_t ranks, Way way, const ProcessWork& work,
                                        std::uint32_t ranks_per_host = 0,
                                        const Secret& secret = {.bytes = "s"});

}  // namespace tutti::test
