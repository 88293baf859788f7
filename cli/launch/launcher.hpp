#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch/crew.hpp"
#include "cli/launch/environment.hpp"
#include "cli/launch/file_descriptor.hpp"
#include "cli/launch/job.hpp"
#include "cli/launch/rank_input.hpp"
#include "cli/launch/rank_output.hpp"
#include "cli/launch/signals.hpp"

namespace tutti::cli {

/// Starts the ranks of a job on this host and supervises them until none is left.
///
/// It changes signals and limits of the whole process. Requires: it is the only one, and this
/// process has no threads yet.
class Launcher {
 public:
  explicit Launcher(const Job& job);

  /// Runs the job and returns the exit code: 0, with keeps_going if any rank succeeded; the code of
  /// the first rank that failed, or 128 plus its signal; 124 after a timeout; 125 if the launcher
  /// itself fails; 126 or 127 if the program cannot be started; 141 if the output was closed.
  [[nodiscard]] int run();

 private:
  void raise_file_limit();
  void open_root();
  void prepare_environment();

  /// Returns 0, or the exit code.
  [[nodiscard]] int start_all(RankOutput& output);
  [[nodiscard]] int start(std::uint32_t rank, const std::string& path, RankOutput& output);
  [[nodiscard]] int refuse(const std::string& path, int error);
  [[nodiscard]] Environment environment(std::uint32_t rank) const;

  const Job& job_;
  std::optional<Signals> signals_;  // Made after standard files are open.
  FileDescriptor null_;
  RankInput input_;
  FileDescriptor root_socket_;
  std::string root_;
  Environment environment_;
  std::vector<cpu_set_t> cores_;
  std::optional<Crew> crew_;  // Made after the signals.
};

}  // namespace tutti::cli
