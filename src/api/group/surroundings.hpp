#pragma once

#include <string>

namespace tutti {

/// The kernel and namespaces in which this process runs. A member is empty if the system does not
/// report it, for example without /proc. Then no two processes count as being in the same place.
struct Surroundings {
  std::string boot{};               ///< The boot id of the running kernel.
  std::string process_namespace{};  ///< Processes in it see each other.
  std::string network_namespace{};  ///< It has one loopback interface.

  [[nodiscard]] static Surroundings read();

  /// Equal for all processes that can share memory: those of one user on one kernel that see each
  /// other in /proc and have the same `host_id` (TUTTI_HOSTID, any bytes). Printable.
  [[nodiscard]] std::string host(const std::string& host_id) const;
  /// Equal for all processes that reach each other by the loopback interface. Printable.
  [[nodiscard]] std::string network() const;
};

/// True if the system reported the network namespace. `network` is a result of network().
[[nodiscard]] bool is_known_network(const std::string& network);

}  // namespace tutti
