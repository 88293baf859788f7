#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tutti/shape.hpp>

namespace tutti {

struct Network;

/// How many threads may call collectives of one communicator at once. Several threads may always
/// send and receive point-to-point messages.
enum class Threads : std::uint8_t {
  single,  ///< One. A second thread that calls at the same time gets an error.
  /// Several. A call waits until the previous one has started or, if that blocks, has finished. All
  /// ranks must still call collectives in the same order.
  multiple,
};

/// Options of a communicator. The default of an option is the environment variable named here or,
/// for a communicator made from another, the value of that one. Algorithms, network and shape must
/// be the same on all ranks.
struct CommunicatorOptions {
  /// How long a call waits for other ranks: TUTTI_TIMEOUT. Zero: the default.
  std::chrono::milliseconds timeout{0};
  /// Which algorithms to use or to avoid, as in TUTTI_ALGO: "allreduce/ring". These rules take
  /// precedence over those of the environment.
  std::string algorithm{};
  /// A file of rules, as in TUTTI_RULES. They come after those of `algorithm`.
  std::string rules_file{};
  /// The network between the ranks, for the choice of algorithms: TUTTI_TOPO_FILE.
  std::shared_ptr<const Network> network{};
  /// Rank r runs on rank places[r] of the network. Empty: on rank r.
  std::vector<std::uint32_t> places{};
  /// How the ranks are grouped into nodes, for algorithms that use a shape. Empty: by host.
  Shape shape{};
  std::optional<Threads> threads{};
  /// Whether buffers of calls that are ordinary memory may become memory that the other ranks of
  /// the host read and write in place: "off" (the default), "auto" (16 KiB), or the size from which
  /// on: TUTTI_ADOPT.
  std::string adopt{};
  /// Called while a collective waits for other ranks, in the thread that waits: a few times a
  /// second, and when a signal interrupts its sleep. If it throws, the communicator is aborted, and
  /// the call throws the same. For languages whose signal handlers run later, such as Python.
  std::function<void()> while_waiting{};

  // The following options are for new groups only. A communicator made from another shares its
  // connections and memory.

  /// "auto", "shm" or "tcp": TUTTI_TRANSPORT.
  std::string transport{};
  /// The key by which ranks authenticate each other: TUTTI_SECRET. Required between hosts when the
  /// ranks meet at an address. A UniqueId or an Exchange has a key of its own. Processes that join
  /// later need the same secret.
  std::string secret{};
  /// Which network interfaces to use: TUTTI_SOCKET_IFNAME.
  std::string interfaces{};
};

}  // namespace tutti
