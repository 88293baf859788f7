#pragma once

#include <string>

namespace tutti {

/// What the system tells of where this process runs. A part is empty where the system does not
/// tell, as without /proc: then nothing is known to be the same for two processes.
struct Surroundings {
  std::string boot{};               ///< Of the running kernel.
  std::string process_namespace{};  ///< In which processes see each other.
  std::string network_namespace{};  ///< Which has one loopback interface.

  [[nodiscard]] static Surroundings read();

  /// The same for all processes that can share memory: those of one user on one kernel that see
  /// each other's /proc, and were told the same (TUTTI_HOSTID, any bytes). Printable.
  [[nodiscard]] std::string host(const std::string& told) const;
  /// The same for all processes that reach each other by the loopback interface. Printable.
  [[nodiscard]] std::string network() const;
};

/// Whether the system has told, of what network() returned.
[[nodiscard]] bool is_known_network(const std::string& network);

}  // namespace tutti
