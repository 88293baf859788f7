#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::cli {

/// A program to be run by several ranks on this host.
struct Job {
  using Seconds = std::chrono::duration<double>;

  std::uint32_t ranks = 0;
  std::vector<std::string> command{};  ///< The program and its arguments.
  std::vector<std::pair<std::string, std::string>> variables{};
  bool prefix = true;                 ///< Put the rank before each line.
  bool bind_cores = false;            ///< One core for each rank, and round again.
  std::string speaker = "tutti run";  ///< In whose name the launcher speaks.
  bool direct = false;                ///< Ranks write where this process writes, not through it.
  std::string output{};               ///< A directory for each rank's output; none if empty.
  std::optional<Seconds> timeout{};   ///< For the whole job.
  Seconds linger{2};                  ///< How long the others may go on when a rank has failed.
  Seconds grace{5};                   ///< Between SIGTERM and SIGKILL.
};

}  // namespace tutti::cli
