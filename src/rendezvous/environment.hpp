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

/// What a process was told by whoever started it: who it is, and where the others are.
struct Launch {
  /// By whose convention it was told.
  enum class How { alone, tutti, torchrun, open_mpi, slurm, pmi };

  How how = How::alone;
  Rank rank{};
  std::uint32_t size = 1;
  std::optional<std::uint32_t> local_rank{};
  std::optional<std::uint32_t> local_size{};

  // Where rank 0 is. With several ranks one of these is set; a name only if all are on one host.
  std::string root_host{};
  std::uint16_t root_port = 0;
  std::optional<int> root_fd{};  ///< Rank 0 only: it listens here already.
  std::string root_name{};       ///< A name within this host, to be completed with the user's.
  std::optional<int> pmi_fd{};   ///< The line to a launcher that speaks PMI-1.

  Secret secret{};
  std::string job{};
  std::chrono::nanoseconds timeout = std::chrono::minutes(2);
};

[[nodiscard]] std::string_view name(Launch::How how);

/// Gives the value of an environment variable, if it is set.
using Lookup = std::function<std::optional<std::string>(const char* variable)>;

/// Looks into the environment of this process.
[[nodiscard]] std::optional<std::string> environment_variable(const char* variable);

/// Reads what the launcher has left, by the first of these conventions whose rank is set:
/// TUTTI_RANK, torchrun, Open MPI, Slurm, PMI. With none of them the process is alone.
///
/// | variable        | means                                                             |
/// |-----------------|-------------------------------------------------------------------|
/// | TUTTI_RANK      | which rank this is                                                |
/// | TUTTI_SIZE      | how many there are                                                |
/// | TUTTI_LOCAL_RANK, TUTTI_LOCAL_SIZE | the same within this host (optional)           |
/// | TUTTI_ROOT      | host:port where rank 0 listens                                    |
/// | TUTTI_ROOT_FD   | at rank 0, a socket that listens there already (optional)         |
/// | TUTTI_SECRET    | what only ranks of this job know; needed beyond one host          |
/// | TUTTI_TLS       | 1 if connections are to be encrypted (optional)                   |
/// | TUTTI_JOB       | a name for the job (optional)                                     |
/// | TUTTI_TIMEOUT   | how many seconds to wait for the others (optional)                |
///
/// TUTTI_ROOT, TUTTI_SECRET, TUTTI_TLS, TUTTI_JOB and TUTTI_TIMEOUT count with every convention,
/// and then override what it says. Without TUTTI_ROOT, ranks that are all on one host meet at a
/// name made of the job's; across hosts torchrun's meet at MASTER_ADDR and MASTER_PORT (or, as
/// torchrun itself holds that port, the next above it), Slurm's on the first host of the step at a
/// port made of the job's number, and Open MPI's need TUTTI_ROOT.
///
/// Throws invalid_argument that names the variable and its value if something makes no sense or is
/// missing.
[[nodiscard]] Launch read_environment(const Lookup& lookup);

/// "node03" of "node[03-05,9],other". Throws invalid_argument.
[[nodiscard]] std::string first_host(std::string_view nodelist);

}  // namespace tutti
