#include "support/command.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "support/temporary_directory.hpp"

namespace tutti::test {

Outcome shell(const std::string& line, const std::string& input) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("in"), std::ios::binary) << input;
  const std::string whole = "{ " + line + "; } <" + directory.path("in") + " >" +
                            directory.path("out") + " 2>" + directory.path("err");
  const int status = std::system(whole.c_str());  // NOLINT(cert-env33-c): the arguments are ours
  Outcome outcome{.out = directory.read("out"), .err = directory.read("err")};
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

Outcome tutti(const std::string& arguments, const std::string& input) {
  return shell(std::string(TUTTI_IN_SHELL) + " " + arguments, input);
}

}  // namespace tutti::test
