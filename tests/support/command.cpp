#include "support/command.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tutti::test {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A directory that goes when the run is over.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] std::filesystem::path file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace

Outcome shell(const std::string& line, const std::string& input) {
  const TemporaryDirectory directory;
  std::ofstream(directory.file("in"), std::ios::binary) << input;
  const std::string whole = "{ " + line + "; } <" + directory.file("in").string() + " >" +
                            directory.file("out").string() + " 2>" + directory.file("err").string();
  const int status = std::system(whole.c_str());  // NOLINT(cert-env33-c): the arguments are ours
  Outcome outcome{.out = read(directory.file("out")), .err = read(directory.file("err"))};
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

Outcome tutti(const std::string& arguments, const std::string& input) {
  return shell(std::string(TUTTI_COMMAND) + " " + arguments, input);
}

}  // namespace tutti::test
