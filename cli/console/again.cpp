#include "cli/console/again.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <tutti/error.hpp>

#include "cli/console/own_program.hpp"
#include "cli/console/text_file.hpp"

namespace tutti::cli {

int run_again(const std::vector<std::string>& words) {
  const std::string self = own_program();
  std::vector<char*> arguments{const_cast<char*>(self.c_str())};
  for (const std::string& each : words) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error =
          ::posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments.data(), environ);
      error != 0) {
    throw Error(ErrorCode::internal,
                "cannot start " + self + ": " + std::generic_category().message(error));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TemporaryFile::TemporaryFile()
    : path_((std::filesystem::temp_directory_path() / "tutti-XXXXXX").string()) {
  const int file = ::mkstemp(path_.data());
  if (file < 0) {
    throw Error(ErrorCode::invalid_argument,
                "cannot make a file in " + std::filesystem::temp_directory_path().string());
  }
  ::close(file);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string TemporaryFile::text() const { return read_text(path_); }

}  // namespace tutti::cli
