#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <tutti/rank.hpp>

#include "net/handshake.hpp"

namespace tutti {

/// What the launcher told a process: its rank, and where the other ranks are.
struct Launch {
  /// The convention of the environment variables.
  enum class How { alone, tutti, torchrun, open_mpi, slurm, pmi };

  How how = How::alone;
  Rank rank{};
  std::uint32_t size = 1;
  std::optional<std::uint32_t> local_rank{};
  std::optional<std::uint32_t> local_size{};

  // The address of rank 0. With several ranks one of these is set; a name only if all ranks are on
  // one host.
  std::string root_host{};
  std::uint16_t root_port = 0;
  std::optional<int> root_fd{};  ///< Rank 0 only: a socket that already listens.
  std::string root_name{};       ///< An abstract socket name, without the user's id.
  std::optional<int> pmi_fd{};   ///< The socket to a launcher that speaks PMI-1.

  Secret secret{};
  std::string job{};
  std::chrono::nanoseconds timeout = std::chrono::minutes(2);
};

[[nodiscard]] std::string_view name(Launch::How how);

/// Returns the value of an environment variable, if it is set.
using Lookup = std::function<std::optional<std::string>(const char* variable)>;

/// A Lookup in the environment of this process.
[[nodiscard]] std::optional<std::string> environment_variable(const char* variable);

/// Reads the launcher's variables by the first of these conventions whose rank is set: TUTTI_RANK,
/// torchrun, Open MPI, Slurm, PMI. With none of them the process is the only rank.
///
/// | variable        | means                                                             |
/// |-----------------|-------------------------------------------------------------------|
/// | TUTTI_RANK      | the rank of this process                                          |
/// | TUTTI_SIZE      | the number of ranks                                               |
/// | TUTTI_LOCAL_RANK, TUTTI_LOCAL_SIZE | the same within this host (optional)           |
/// | TUTTI_ROOT      | host:port where rank 0 listens                                    |
/// | TUTTI_ROOT_FD   | at rank 0, a socket that already listens there (optional)         |
/// | TUTTI_SECRET    | a secret that the ranks share; required across hosts              |
/// | TUTTI_TLS       | 1 to encrypt connections (optional)                               |
/// | TUTTI_JOB       | a name for the job (optional)                                     |
/// | TUTTI_TIMEOUT   | seconds to wait for the other ranks (optional)                    |
///
/// TUTTI_ROOT, TUTTI_SECRET, TUTTI_TLS, TUTTI_JOB and TUTTI_TIMEOUT override every convention.
/// Without TUTTI_ROOT, ranks that are all on one host meet at an abstract socket whose name is made
/// of the job's. Across hosts, torchrun's ranks meet at MASTER_ADDR and MASTER_PORT (or the next
/// port if torchrun itself holds that one), Slurm's on the first host of the step at a port made of
/// the job's number, and Open MPI's need TUTTI_ROOT.
///
/// Throws invalid_argument that names the variable and its value if one is invalid or missing.
[[nodiscard]] Launch read_environment(const Lookup& lookup);

/// The first host of a Slurm node list: "node03" of "node[03-05,9],other". Throws invalid_argument.
[[nodiscard]] std::string first_host(std::string_view nodelist);

}  // namespace tutti
