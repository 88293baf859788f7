#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::cli {

/// Where the ranks of a job may run.
enum class Binding : std::uint8_t {
  none,   ///< Anywhere.
  share,  ///< On an equal share of the cores each; anywhere if there are more ranks than cores.
  core,   ///< On one core each, round-robin.
};

/// A program to run as several ranks on this host.
struct Job {
  using Seconds = std::chrono::duration<double>;

  std::uint32_t ranks = 0;
  std::vector<std::string> command{};  ///< The program and its arguments.
  std::vector<std::pair<std::string, std::string>> variables{};
  bool prefix = true;  ///< Put the rank before each line of output.
  Binding binding = Binding::share;
  std::string speaker = "tutti run";  ///< The name that messages of the launcher begin with.
  bool direct = false;                ///< Ranks inherit the output of this process.
  std::string output{};               ///< Directory for a file of each rank's output; empty: none.
  std::optional<Seconds> timeout{};   ///< For the whole job.
  bool keeps_going = false;           ///< Ranks go on after one has failed.
  Seconds linger{2};                  ///< Time for other ranks to end after one has failed.
  Seconds grace{5};                   ///< Between SIGTERM and SIGKILL.
};

}  // namespace tutti::cli
