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
#include "cli/launch/rank_process.hpp"

namespace tutti::cli {

/// Starts the ranks of a job on this host and sees to them until none is left.
///
/// It sets signals and limits for the whole process, so there is one for a process, before there
/// are threads.
class Launcher {
 public:
  explicit Launcher(const Job& job);

  /// Runs the job and returns what to exit with: 0, the code of the first rank that failed, or 128
  /// and its signal; and as is the custom 124 after a timeout, 125 if the launcher itself fails,
  /// 126 or 127 if the program cannot be started, 141 if nobody reads the output any more.
  [[nodiscard]] int run();

 private:
  void take_signals();
  void raise_file_limit();
  void open_root();
  void prepare_environment();

  /// 0, or what to exit with.
  [[nodiscard]] int start_all(RankOutput& output);
  [[nodiscard]] int start(std::uint32_t rank, const std::string& path, RankOutput& output);
  [[nodiscard]] int refuse(const std::string& path, int error);
  [[nodiscard]] Environment environment(std::uint32_t rank) const;

  const Job& job_;
  Inheritance inheritance_;
  FileDescriptor signals_;
  FileDescriptor null_;
  RankInput input_;
  FileDescriptor root_socket_;
  std::string root_;
  Environment environment_;
  std::vector<cpu_set_t> cores_;
  std::optional<Crew> crew_;  // Not before standard files are open and signals blocked.
};

}  // namespace tutti::cli
