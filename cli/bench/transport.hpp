#pragma once

#include <map>
#include <string>

/// How the ranks of `tutti bench` reach each other: the values of --transport.
namespace tutti::cli {

enum class BenchTransport {
  automatic,  ///< As tutti finds best.
  shm,        ///< Processes that share memory.
  tcp,        ///< Processes that use TCP.
  inproc,     ///< Threads of one process.
};

/// The value of TUTTI_TRANSPORT and --transport: "auto", "shm", "tcp" or "inproc".
[[nodiscard]] std::string name(BenchTransport transport);

/// All values by name, for Command::choice.
[[nodiscard]] const std::map<std::string, int>& bench_transports();

}  // namespace tutti::cli
