#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tutti/shape.hpp>

namespace tutti {

struct Network;

/// How many threads may call collectives of one communicator at once. (Messages between two ranks
/// may always be sent and received by several.)
enum class Threads : std::uint8_t {
  single,  ///< One: a second thread that calls meanwhile gets an error.
  /// Several: a call waits until the one before has begun or, if that blocks, is done. All ranks
  /// must still make their collectives in the same order.
  multiple,
};

/// What a program says about a communicator. What is left out is what the environment says, or, for
/// a communicator that is made from another, what that one has. All ranks must say the same about
/// algorithms, network and shape.
struct CommunicatorOptions {
  /// How long a call waits for the others: TUTTI_TIMEOUT. Zero leaves it out.
  std::chrono::milliseconds timeout{0};
  /// Which algorithms to use or to avoid, as in TUTTI_ALGO: "allreduce:ring". These rules come
  /// before those of the environment.
  std::string algorithm{};
  /// A file of rules, as in TUTTI_RULES, which come next.
  std::string rules_file{};
  /// The network between the ranks, for the choice of algorithms: TUTTI_TOPO_FILE.
  std::shared_ptr<const Network> network{};
  /// On which rank of the network each rank runs; empty: on the one of its own number.
  std::vector<std::uint32_t> places{};
  /// How the ranks stand in nodes, for algorithms that use it; empty: as the hosts have them.
  Shape shape{};
  std::optional<Threads> threads{};

  // What follows is for new groups only. A communicator that is made from another shares its
  // connections and memory.

  /// "auto", "shm" or "tcp": TUTTI_TRANSPORT.
  std::string transport{};
  /// By which ranks know each other: TUTTI_SECRET. Needed between hosts where the ranks meet by an
  /// address; a UniqueId and an Exchange bring one of their own.
  std::string secret{};
  /// Which network interfaces to use: TUTTI_SOCKET_IFNAME.
  std::string interfaces{};
};

}  // namespace tutti
