#include "cli/bench/comparison.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include <tutti/error.hpp>

#include "cli/console/own_program.hpp"
#include "cli/console/standard_output.hpp"
#include "cli/launch/environment.hpp"
#include "core/system_reason.hpp"

namespace tutti::cli {

void VersusRequest::add(Command command) {
  command
      .option("--vs", peers,
              "compare with openmpi, mpich, intelmpi, gloo, oneccl, direct, or one setting such as "
              "openmpi:ring")
      .text("LIBRARY,...")
      .delimiter(',')
      .one_word();
  command.option("--rounds", rounds, "turns of each library, with --vs")
      .text("N (3)")
      .between(std::size_t{1}, std::size_t{1000});
  command.option("--patience", patience, "most seconds of a turn, with --vs")
      .text("S (20)")
      .between(0.1, 3600.0);
  command.flag("--in-place", in_place, "compare calls in place, with --vs");
  command.option("--peers", folder, "folder of the programs for --vs").text("FOLDER");
}

void become_comparison(std::vector<std::string> words) {
  const std::filesystem::path folder = std::filesystem::path(own_program()).parent_path();
  const std::string program = (folder / "bench" / "tutti-versus").string();
  words.insert(words.begin(), program);
  ::sigaction(SIGXFSZ, &file_size_action_before(), nullptr);
  ::execv(program.c_str(), exec_pointers(words).data());
  throw Error(ErrorCode::unsupported,
              "cannot start " + program + ": " + system_reason(errno) +
                  "; --vs works from a build folder: './dev peers' builds all that it needs, then "
                  "use build/tutti");
}

}  // namespace tutti::cli
